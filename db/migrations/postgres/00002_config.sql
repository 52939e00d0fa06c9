-- +goose Up
create table config_objects (
    kind       text not null,
    name       text not null,
    data       text not null, -- JSON
    updated_at timestamptz not null,
    primary key (kind, name)
);

create table config_changes (
    id         text primary key,
    kind       text not null,
    name       text not null,
    before     text, -- JSON; null: created
    after      text, -- JSON; null: deleted
    account_id text not null default '',
    at         timestamptz not null
);
create index config_changes_object on config_changes (kind, name, at);

-- +goose Down
drop table config_changes;
drop table config_objects;
