-- +goose Up
-- One translation of an entity as it can be found.
create table search_documents (
    id             bigint generated always as identity primary key,
    entity_type    text not null,
    entity_id      text not null,
    lang           text not null,
    bundle         text not null,
    title          text not null,
    path           text not null,
    origin         text not null, -- what an importer made it from; empty: nothing
    view_roles     text not null, -- JSON array of role names; empty: everybody
    languages      text not null, -- JSON array of all published languages of the entity
    out_of_answers boolean not null,
    date           timestamptz,
    title_terms    text not null, -- analysed, in order, separated by spaces
    indexed_at     timestamptz not null,
    unique (entity_id, lang)
);
create index search_documents_indexed on search_documents (indexed_at);

-- A passage of a document. The document's id is in the upper bits of the id.
create table search_chunks (
    id            bigint primary key,
    document_id   bigint not null references search_documents (id) on delete cascade,
    heading       text not null,
    anchor        text not null,
    text          text not null, -- Markdown
    start_offset  integer not null, -- in the body, in bytes
    end_offset    integer not null,
    heading_terms text not null, -- analysed, like title_terms
    body_terms    text not null,
    length        integer not null -- of body_terms, in terms
);
create index search_chunks_document on search_chunks (document_id);

-- Which terms a passage holds; its id is its chunk's. A term of the title stands
-- here a second time with "^" in front.
create table search_terms (
    id    bigint primary key,
    terms tsvector not null
);
create index search_terms_terms on search_terms using gin (terms);

-- +goose Down
drop table search_terms;
drop table search_chunks;
drop table search_documents;
