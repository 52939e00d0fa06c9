-- +goose Up
-- What an editor has typed into a form and not saved: never a revision by itself.
create table form_states (
    account_id text not null references accounts (id) on delete cascade,
    id         text not null, -- the form: entity and language, or an id of its own for new content
    entity_id  text references entities (id) on delete cascade, -- null: new content
    bundle     text not null default '',
    lang       text not null,
    based_on   text not null default '', -- the revision that the form was opened with
    title      text not null default '',
    data       text not null, -- the form as it was sent
    updated_at timestamptz not null,
    primary key (account_id, id)
);
create index form_states_entity on form_states (entity_id);
create index form_states_updated on form_states (updated_at);

-- +goose Down
drop table form_states;
