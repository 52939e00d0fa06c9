-- +goose Up
-- Pages of sites hosted elsewhere, as they were read last.
create table external_pages (
    url           text primary key,
    host          text not null,
    etag          text not null,
    last_modified text not null,
    hash          text not null, -- of what was stored
    checked_at    timestamptz not null
);
create index external_pages_host on external_pages (host, checked_at);

-- +goose Down
drop table external_pages;
