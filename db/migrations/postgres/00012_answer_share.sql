-- +goose Up
alter table turns add column suggestions text not null default '[]'; -- JSON: follow-up questions offered with the answer

-- Answers that visitors share by a link. A row is a copy that outlives its
-- conversation, and so names it without a reference.
create table answer_shares (
    token           text primary key, -- 128 random bits
    turn_id         text not null unique,
    conversation_id text not null,
    account_id      text not null default '', -- who asked; empty: whoever knows the turn's id
    agent           text not null,
    agent_label     text not null,
    question        text not null,
    lang            text not null,
    text            text not null, -- Markdown with the turn's final numbers
    sources         text not null, -- JSON: those cited, by their numbers
    behind          text not null, -- JSON: the pages that the model had read and that were not for everybody
    answered_at     timestamptz not null,
    created_at      timestamptz not null,
    expires_at      timestamptz not null
);
create index answer_shares_conversation on answer_shares (conversation_id);
create index answer_shares_expiry on answer_shares (expires_at);

-- +goose Down
drop table answer_shares;
alter table turns drop column suggestions;
