package search

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/db"
	"docent/internal/content"
)

// chunkBits is how many low bits of a chunk's id number it within its document.
const chunkBits = 16

func documentOf(chunkID int64) int64 { return chunkID >> chunkBits }

// indexLock is the key of the advisory lock that writers of the index queue on;
// any number that nobody else uses.
const indexLock = 0x736561726368

// lockIndex makes writers of the index take turns until the transaction ends. A
// transaction of SQLite has the database to itself anyway.
func lockIndex(ctx context.Context, tx *db.DB) error {
	if tx.Dialect() == db.SQLite {
		return nil
	}
	_, err := tx.Exec(ctx, "select pg_advisory_xact_lock(?)", int64(indexLock))
	return err
}

// rowsPerInsert bounds a multi-row insert; both databases limit parameters.
const rowsPerInsert = 200

// insertRows runs "insert into … values (…), (…)" for many rows at once.
func insertRows(ctx context.Context, d *db.DB, insert, row string, rows [][]any) error {
	for part := range slices.Chunk(rows, rowsPerInsert) {
		args := make([]any, 0, len(part)*len(part[0]))
		for _, r := range part {
			args = append(args, r...)
		}
		query := insert + " values " + strings.Repeat(row+", ", len(part)-1) + row
		if _, err := d.Exec(ctx, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// putDocuments writes analysed documents and their passages.
func putDocuments(ctx context.Context, tx *db.DB, docs []document) error {
	if len(docs) == 0 {
		return nil
	}
	ids := make([]int64, len(docs))
	now := db.Now()
	at := 0
	for part := range slices.Chunk(docs, rowsPerInsert) {
		if err := upsertDocuments(ctx, tx, part, now, ids[at:at+len(part)]); err != nil {
			return err
		}
		at += len(part)
	}
	if err := removeChunks(ctx, tx, ids); err != nil {
		return err
	}
	var chunks, terms [][]any
	for i, d := range docs {
		for n, p := range d.passages {
			if n >= 1<<chunkBits {
				break
			}
			id := ids[i]<<chunkBits | int64(n)
			chunks = append(chunks, []any{id, ids[i], clean(p.Heading()), clean(p.Anchor), clean(p.Text), p.Start, p.End,
				strings.Join(p.headingTerms, " "), strings.Join(p.bodyTerms, " "), len(p.bodyTerms)})
			terms = append(terms, []any{id, strings.Join(distinctTerms(d.titleTerms, p, n == 0), " ")})
		}
	}
	if err := insertRows(ctx, tx, "insert into search_chunks (id, document_id, heading, anchor, text, start_offset, end_offset, "+
		"heading_terms, body_terms, length)", "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", chunks); err != nil {
		return err
	}
	if tx.Dialect() == db.Postgres {
		if err := insertRows(ctx, tx, "insert into search_terms (id, terms)",
			"(cast(? as bigint), array_to_tsvector(string_to_array(?, ' ')))", terms); err != nil {
			return err
		}
		// Else every search would read through the list of pending entries.
		_, err := tx.Exec(ctx, "select gin_clean_pending_list('search_terms_terms')")
		return err
	}
	return insertRows(ctx, tx, "insert into search_terms (rowid, terms)", "(?, ?)", terms)
}

// distinctTerms are the terms that a passage is found by; the first passage of a
// document also stands for its title.
func distinctTerms(title []string, p passage, first bool) []string {
	seen := make(map[string]bool, len(p.bodyTerms)+2*len(title))
	out := make([]string, 0, len(p.bodyTerms)+2*len(title))
	add := func(term string) {
		if !seen[term] {
			seen[term] = true
			out = append(out, term)
		}
	}
	for _, t := range title {
		add(t)
		if first {
			add(titleMark + t)
		}
	}
	for _, t := range p.headingTerms {
		add(t)
	}
	for _, t := range p.bodyTerms {
		add(t)
	}
	return out
}

// titleMark stands before the terms of a title in the index.
const titleMark = "^"

// upsertDocuments writes documents and fills ids.
func upsertDocuments(ctx context.Context, tx *db.DB, docs []document, now time.Time, ids []int64) error {
	type key struct{ entity, lang string }
	index := make(map[key]int, len(docs))
	args := make([]any, 0, 13*len(docs))
	for i, d := range docs {
		it := d.item
		index[key{it.ID, it.Lang}] = i
		var date any
		if !it.Date.IsZero() {
			date = it.Date.UTC()
		}
		args = append(args, it.Type, it.ID, it.Lang, it.Bundle, clean(it.Title), clean(it.Path), clean(it.Origin), marshalStrings(it.ViewRoles),
			marshalStrings(it.Languages), it.OutOfAnswers, date, strings.Join(d.titleTerms, " "), now)
	}
	row := "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	rows, err := tx.Query(ctx, "insert into search_documents (entity_type, entity_id, lang, bundle, title, path, origin, view_roles, "+
		"languages, out_of_answers, date, title_terms, indexed_at) values "+strings.Repeat(row+", ", len(docs)-1)+row+
		" on conflict (entity_id, lang) do update set entity_type = excluded.entity_type, bundle = excluded.bundle, "+
		"title = excluded.title, path = excluded.path, origin = excluded.origin, view_roles = excluded.view_roles, languages = excluded.languages, "+
		"out_of_answers = excluded.out_of_answers, date = excluded.date, title_terms = excluded.title_terms, "+
		"indexed_at = excluded.indexed_at returning id, entity_id, lang", args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var k key
		if err := rows.Scan(&id, &k.entity, &k.lang); err != nil {
			return err
		}
		ids[index[k]] = id
	}
	return rows.Err()
}

func marshalStrings(list []string) string {
	if len(list) == 0 {
		return "[]"
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}

func unmarshalStrings(text string) ([]string, error) {
	if text == "[]" {
		return nil, nil
	}
	var list []string
	err := json.Unmarshal([]byte(text), &list)
	return list, err
}

// removeChunks takes all passages of documents out.
func removeChunks(ctx context.Context, tx *db.DB, documentIDs []int64) error {
	key := "id"
	if tx.Dialect() == db.SQLite {
		key = "rowid"
	}
	for part := range slices.Chunk(documentIDs, 500) {
		of := " in (" + idList(part) + ")"
		if _, err := tx.Exec(ctx, "delete from search_terms where "+key+" in (select id from search_chunks where document_id"+of+")"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "delete from search_chunks where document_id"+of); err != nil {
			return err
		}
	}
	return nil
}

// removeDocuments takes the documents that a condition names out of the index.
func removeDocuments(ctx context.Context, tx *db.DB, where string, args ...any) error {
	var ids []int64
	if err := tx.Select(ctx, &ids, "select id from search_documents where "+where, args...); err != nil {
		return err
	}
	if len(ids) == 0 {
		return nil
	}
	return tx.InTx(ctx, func(tx *db.DB) error {
		if err := removeChunks(ctx, tx, ids); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "delete from search_documents where id in ("+idList(ids)+")")
		return err
	})
}

func removeTranslations(ctx context.Context, tx *db.DB, items []content.Item) error {
	for _, it := range items {
		if err := removeDocuments(ctx, tx, "entity_id = ? and lang = ?", it.ID, it.Lang); err != nil {
			return err
		}
	}
	return nil
}

func removeEntities(ctx context.Context, tx *db.DB, entityIDs []string) error {
	where, args, err := db.In("entity_id in (?)", entityIDs)
	if err != nil {
		return err
	}
	return removeDocuments(ctx, tx, where, args...)
}

func removeOtherLanguages(ctx context.Context, tx *db.DB, entityID string, keep []string) error {
	if len(keep) == 0 {
		return removeEntities(ctx, tx, []string{entityID})
	}
	where, args, err := db.In("entity_id = ? and lang not in (?)", entityID, keep)
	if err != nil {
		return err
	}
	return removeDocuments(ctx, tx, where, args...)
}

// idList writes ids for "in (…)".
func idList(ids []int64) string {
	b := make([]byte, 0, 12*len(ids))
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(b)
}
