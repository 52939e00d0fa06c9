-- +goose Up
create table conversations (
    id         text primary key, -- 128 random bits: whoever knows an anonymous one's id may go on with it
    agent      text not null,
    account_id text not null default '',
    created_at timestamp not null,
    expires_at timestamp not null
);
create index conversations_expiry on conversations (expires_at);

create table turns (
    id                text primary key, -- 128 random bits
    conversation_id   text not null references conversations (id) on delete cascade,
    number            integer not null check (number > 0),
    question          text not null,
    lang              text not null,
    page              text not null default '', -- where it was asked
    delivery          text not null default 'whole' check (delivery in ('whole', 'stream')),
    log_id            text not null default '', -- its record in answer_log
    trace_id          text not null default '',
    status            text not null check (status in ('running', 'done', 'stopped', 'interrupted', 'failed')),
    refused           boolean not null default false, -- text is the no-answer message
    cut_off           boolean not null default false, -- the model ran out of its length
    nearest           text not null default '[]', -- of a refused turn: JSON of the pages that come nearest
    text              text not null default '', -- Markdown with the model's own numbers
    final_text        text not null default '', -- with the turn's final numbers
    failure           text not null default '' check (failure in ('', 'internal', 'model_busy', 'model_unavailable', 'model_refused_key', 'too_long', 'timeout')),
    stop_requested    boolean not null default false,
    idempotency_key   text, -- a hash over key, owner and request
    model             text not null default '',
    prompt_tokens     integer not null default 0,
    completion_tokens integer not null default 0,
    owner             text not null default '', -- the process that runs it
    lease_until       timestamp,
    created_at        timestamp not null,
    finished_at       timestamp,
    unique (conversation_id, number),
    check ((status = 'running') = (finished_at is null)),
    check (status <> 'running' or (owner <> '' and lease_until is not null))
);
-- A conversation has one running turn at most.
create unique index turns_running on turns (conversation_id) where status = 'running';
create unique index turns_idempotency on turns (idempotency_key) where idempotency_key is not null;
create index turns_lease on turns (lease_until) where status = 'running';

create table turn_sources (
    turn_id     text not null references turns (id) on delete cascade,
    number      integer not null check (number > 0), -- as the model knows it in this turn
    key         text not null, -- identity in the conversation's running list
    entity_type text not null default '',
    entity_id   text not null default '',
    lang        text not null default '',
    title       text not null,
    path        text not null,
    location    text not null default '', -- where on the site: "Visit / Prices"
    external    text not null default '', -- address of the original when the page only points to it
    anchor      text not null default '', -- of the nearest heading
    date        text not null default '', -- of the page, ISO
    passage     text not null default '', -- the best one, for people
    passages    text not null default '[]', -- JSON: all that the model read, in the order of the page
    found_lang  text not null default '', -- language of the passages
    found_path  text not null default '', -- page of the passages
    citations   text not null default '[]', -- JSON: for each marker the words it rests on
    score       real not null default 0,
    final       integer not null default 0, -- number in the final text; 0: not cited
    running     integer not null default 0, -- number on the reader's list; 0: not cited
    primary key (turn_id, number)
);

-- +goose Down
drop table turn_sources;
drop table turns;
drop table conversations;
