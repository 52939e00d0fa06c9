-- +goose Up
-- One row for every run, kept for as long as the settings say. It holds no id that
-- would open a conversation.
create table answer_log (
    id                text primary key, -- UUIDv7: the run
    trace_id          text not null, -- W3C trace id, in hexadecimal
    agent             text not null,
    account_id        text not null default '',
    trial             boolean not null default false, -- asked by an administrator to try settings out
    lang              text not null default '',
    page              text not null default '',
    turn              integer not null, -- number in its conversation
    question          text not null,
    answer            text not null default '',
    outcome           text not null check (outcome in ('running', 'answered', 'refused', 'stopped', 'interrupted', 'failed')),
    failure           text not null default '',
    model             text not null default '',
    rounds            integer not null default 0,
    prompt_tokens     integer not null default 0,
    completion_tokens integer not null default 0,
    cost              real not null default 0,
    currency          text not null default '',
    sources           text not null default '[]', -- JSON: with scores and final numbers
    cited             integer not null default 0,
    dropped           integer not null default 0, -- markers that named no source
    steps             text not null default '[]', -- JSON: searches, tool calls and model calls
    first_text_ms     integer not null default 0,
    total_ms          integer not null default 0,
    rating            text not null default '' check (rating in ('', 'positive', 'negative')),
    reasons           text not null default '[]',
    comment           text not null default '',
    rated_at          timestamp,
    created_at        timestamp not null,
    finished_at       timestamp,
    check ((outcome = 'running') = (finished_at is null))
);
create index answer_log_created on answer_log (created_at);
create index answer_log_agent on answer_log (agent, created_at);

-- A visitor's vote on a turn: one, which may be changed.
create table answer_feedback (
    turn_id    text primary key references turns (id) on delete cascade,
    rating     text not null check (rating in ('positive', 'negative')),
    reasons    text not null default '[]',
    comment    text not null default '',
    account_id text not null default '',
    changed_at timestamp not null
);

-- How many questions an agent took on a day of the site's.
create table answer_days (
    agent text not null,
    day   text not null, -- ISO
    turns integer not null,
    primary key (agent, day)
);

-- +goose Down
drop table answer_days;
drop table answer_feedback;
drop table answer_log;
