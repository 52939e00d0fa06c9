-- +goose Up
-- Who may read a private file follows from what holds it; the others are for everybody.
alter table files add column private boolean not null default false;
alter table files add column name text not null default ''; -- that it is downloaded under
alter table files add column standalone boolean not null default true; -- found without a page that shows it
alter table files add column focus_x double precision not null default 0.5 check (focus_x between 0 and 1);
alter table files add column focus_y double precision not null default 0.5 check (focus_y between 0 and 1);
create unique index files_private on files (hash) where private;
create index files_hash on files (hash);

-- What documents say, by the hash of their bytes.
create table file_texts (
    hash       text primary key,
    text       text not null, -- Markdown, pages parted by form feeds
    cut        boolean not null default false, -- there is more than was read
    problem    text not null default '', -- why there is none
    created_at timestamptz not null
);

-- +goose Down
drop table file_texts;
drop index files_hash;
drop index files_private;
alter table files drop column focus_y;
alter table files drop column focus_x;
alter table files drop column standalone;
alter table files drop column name;
alter table files drop column private;
