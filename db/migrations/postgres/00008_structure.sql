-- +goose Up
-- How often visitors followed a redirect.
create table redirect_hits (
    entity_id text primary key references entities (id) on delete cascade,
    hits      bigint not null,
    last_at   timestamptz not null
);

-- +goose Down
drop table redirect_hits;
