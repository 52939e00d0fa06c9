-- +goose Up
create table entities (
    id             text primary key,
    type           text not null check (type in ('node', 'media', 'term', 'menu_link', 'redirect')),
    bundle         text not null,
    view_roles     text not null default '[]', -- JSON array of role names; empty: everybody
    out_of_answers boolean not null default false,
    author_id      text not null default '',
    origin         text, -- its name outside of this database: "import:guides/a", "term:topics/mobile"
    created_at     timestamptz not null,
    updated_at     timestamptz not null
);
create unique index entities_origin on entities (origin) where origin is not null;
create index entities_bundle on entities (type, bundle);

create table revisions (
    id         text primary key,
    entity_id  text not null references entities (id) on delete cascade,
    lang       text not null,
    title      text not null,
    fields     text not null, -- JSON
    settings   text not null default '', -- JSON: path, order, access and menu to apply when it is published; empty: as the translation has them
    state      text not null check (state in ('draft', 'published', 'archived')),
    author_id  text not null default '',
    message    text not null default '',
    created_at timestamptz not null
);
create index revisions_entity on revisions (entity_id, lang, created_at);

-- The current state of every translation: what lists and pages read. What lists go
-- by stands here too although it is the entity's, so that an index can hold it.
create table translations (
    entity_id             text not null references entities (id) on delete cascade,
    lang                  text not null,
    type                  text not null, -- of the entity, as the next three
    bundle                text not null,
    view_roles            text not null default '[]',
    author_id             text not null default '',
    latest_revision_id    text not null,
    published_revision_id text, -- null: not published
    title                 text not null, -- of the published revision, else of the latest
    title_key             text collate "C" not null, -- the title in lower case: both databases sort and find alike
    state                 text not null check (state in ('draft', 'published', 'archived')), -- of the latest
    path                  text collate "C", -- without language prefix: "/visit/prices/"; null: reached by id
    parent_path           text collate "C" not null default '', -- nearest path above it that has a page
    section_index         boolean not null default false,
    weight                integer not null default 0,
    date                  timestamptz,
    menu                  text not null default '',
    menu_title            text not null default '',
    menu_parent           text not null default '', -- entity of the menu's entry above
    origin                text, -- the file it was imported from: "import:es/guides/a.md"
    origin_hash           text not null default '', -- of that file, to see what changed
    changed_at            timestamptz not null, -- when the shown text last changed, as its author tells it
    updated_at            timestamptz not null,
    primary key (entity_id, lang),
    check (state <> 'published' or published_revision_id is not null)
);
create unique index translations_path on translations (lang, path);
create unique index translations_origin on translations (origin) where origin is not null;
create index translations_parent on translations (lang, parent_path, weight);
create index translations_menu on translations (menu) where menu <> '';
create index translations_updated on translations (type, updated_at desc, entity_id, lang);
create index translations_title on translations (type, title_key, entity_id, lang);
create index translations_count on translations (type, bundle, lang, state, published_revision_id, view_roles, author_id);

-- Former and additional addresses, which lead on to the translation's path.
create table aliases (
    lang      text not null,
    path      text collate "C" not null,
    entity_id text not null references entities (id) on delete cascade,
    primary key (lang, path)
);
create index aliases_entity on aliases (entity_id);

create table entity_terms (
    entity_id text not null references entities (id) on delete cascade,
    lang      text not null,
    term_id   text not null references entities (id) on delete cascade,
    primary key (entity_id, lang, term_id)
);
create index entity_terms_term on entity_terms (term_id);

-- What content refers to: other entities by id, files as "file:<id>", addresses in
-- its texts as "path:/visit/". Kept for the revision shown and for a draft beside it.
create table usages (
    entity_id text not null references entities (id) on delete cascade,
    lang      text not null,
    field     text not null,
    target    text not null,
    live      boolean not null, -- the published revision refers to it
    primary key (entity_id, lang, field, target)
);
create index usages_target on usages (target);

-- Files that content shows; kept in the data folder under their own hash.
create table files (
    id         text primary key,
    path       text not null unique, -- public address below /files/
    hash       text not null,
    mime       text not null,
    size       bigint not null,
    width      integer not null default 0,
    height     integer not null default 0,
    origin     text not null default '',
    created_at timestamptz not null
);

-- +goose Down
drop table files;
drop table usages;
drop table entity_terms;
drop table aliases;
drop table translations;
drop table revisions;
drop table entities;
