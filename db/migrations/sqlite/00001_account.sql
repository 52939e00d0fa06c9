-- +goose Up
create table accounts (
    id            text primary key,
    name          text not null,
    name_key      text not null unique, -- folded to lower case: "Ada" and "ada" are one
    email         text not null default '',
    password_hash text not null default '', -- empty: signs in by link only
    roles         text not null default '[]', -- JSON array, without anonymous and authenticated
    blocked       boolean not null default false,
    created_at    timestamp not null,
    updated_at    timestamp not null,
    last_seen_at  timestamp
);

create table sessions (
    token_hash   text primary key, -- SHA-256 of the cookie's id
    account_id   text not null references accounts (id) on delete cascade,
    csrf_token   text not null,
    user_agent   text not null default '',
    address      text not null default '',
    created_at   timestamp not null,
    last_seen_at timestamp not null,
    expires_at   timestamp not null
);
create index sessions_account on sessions (account_id);

create table signin_links (
    token_hash text primary key,
    account_id text not null references accounts (id) on delete cascade,
    created_by text not null default '',
    created_at timestamp not null,
    expires_at timestamp not null,
    used_at    timestamp
);

create table login_attempts (
    key        text not null, -- folded account name, or client address
    at         timestamp not null
);
create index login_attempts_key on login_attempts (key, at);

-- Keys made at the first start and used by every process of the site.
create table secrets (
    name       text primary key,
    value      text not null, -- hexadecimal
    created_at timestamp not null
);

-- +goose Down
drop table secrets;
drop table login_attempts;
drop table signin_links;
drop table sessions;
drop table accounts;
