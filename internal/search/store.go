package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	args := make([]any, 0, 12*len(docs))
	for i, d := range docs {
		it := d.item
		index[key{it.ID, it.Lang}] = i
		var date any
		if !it.Date.IsZero() {
			date = it.Date.UTC()
		}
		args = append(args, it.Type, it.ID, it.Lang, it.Bundle, clean(it.Title), it.Path, marshalStrings(it.ViewRoles),
			marshalStrings(it.Languages), it.OutOfAnswers, date, strings.Join(d.titleTerms, " "), now)
	}
	row := "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	rows, err := tx.Query(ctx, "insert into search_documents (entity_type, entity_id, lang, bundle, title, path, view_roles, "+
		"languages, out_of_answers, date, title_terms, indexed_at) values "+strings.Repeat(row+", ", len(docs)-1)+row+
		" on conflict (entity_id, lang) do update set entity_type = excluded.entity_type, bundle = excluded.bundle, "+
		"title = excluded.title, path = excluded.path, view_roles = excluded.view_roles, languages = excluded.languages, "+
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
	for part := range slices.Chunk(documentIDs, 500) {
		var chunkIDs []int64
		if err := tx.Select(ctx, &chunkIDs, "select id from search_chunks where document_id in ("+idList(part)+")"); err != nil {
			return err
		}
		if len(chunkIDs) == 0 {
			continue
		}
		key := "id"
		if tx.Dialect() == db.SQLite {
			key = "rowid"
		}
		if _, err := tx.Exec(ctx, "delete from search_terms where "+key+" in ("+idList(chunkIDs)+")"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "delete from search_chunks where document_id in ("+idList(part)+")"); err != nil {
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

// postings returns, for every term, the ids of the chunks that hold it.
func postings(ctx context.Context, d *db.DB, terms []string) ([][]int64, error) {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = quoteTerm(d.Dialect(), t)
	}
	var rows []struct {
		N   int    `db:"n"`
		IDs string `db:"ids"`
	}
	var err error
	if d.Dialect() == db.Postgres {
		err = d.Select(ctx, &rows, "select q.n, string_agg(cast(t.id as text), ',') as ids "+
			"from unnest(string_to_array(?, ' ')) with ordinality q (term, n) "+
			"join search_terms t on t.terms @@ cast(q.term as tsquery) group by q.n", strings.Join(quoted, " "))
	} else {
		err = d.Select(ctx, &rows, "select q.key + 1 as n, string_agg(cast(search_terms.rowid as text), ',') as ids "+
			"from json_each(?) q join search_terms on search_terms match q.value group by q.key", marshalStrings(quoted))
	}
	if err != nil {
		return nil, err
	}
	out := make([][]int64, len(terms))
	for _, r := range rows {
		if out[r.N-1], err = parseIDs(r.IDs); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// quoteTerm writes a term as a full-text query for exactly that term.
func quoteTerm(dialect db.Dialect, term string) string {
	if dialect == db.Postgres {
		return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(term) + "'"
	}
	return `"` + strings.ReplaceAll(term, `"`, `""`) + `"`
}

func parseIDs(list string) ([]int64, error) {
	ids := make([]int64, 0, strings.Count(list, ",")+1)
	var n int64
	for i := range len(list) {
		switch c := list[i]; {
		case c == ',':
			ids = append(ids, n)
			n = 0
		case '0' <= c && c <= '9':
			n = n*10 + int64(c-'0')
		default:
			return nil, fmt.Errorf("list of ids: unexpected %q", c)
		}
	}
	return append(ids, n), nil
}

// A candidate is a chunk with what its score needs.
type candidate struct {
	ID           int64      `db:"id"`
	EntityID     string     `db:"entity_id"`
	Lang         string     `db:"lang"`
	ViewRoles    string     `db:"view_roles"`
	Languages    string     `db:"languages"`
	Date         *time.Time `db:"date"`
	TitleTerms   string     `db:"title_terms"`
	HeadingTerms string     `db:"heading_terms"`
	BodyTerms    string     `db:"body_terms"`
	Length       int        `db:"length"`
}

// readCandidates reads chunks by id, those that the filter lets through.
func readCandidates(ctx context.Context, d *db.DB, ids []int64, f filter) ([]candidate, error) {
	where, args, err := f.where()
	if err != nil {
		return nil, err
	}
	var rows []candidate
	err = d.Select(ctx, &rows, "select c.id, d.entity_id, d.lang, d.view_roles, d.languages, d.date, d.title_terms, "+
		"c.heading_terms, c.body_terms, c.length from search_chunks c join search_documents d on d.id = c.document_id "+
		"where c.id in ("+idList(ids)+")"+where, args...)
	return rows, err
}

// A filter is what the database can decide about a document.
type filter struct {
	bundles, languages []string
	forAnswers         bool
}

func (f filter) where() (string, []any, error) {
	where, args := "", []any(nil)
	if f.forAnswers {
		where += " and not d.out_of_answers"
	}
	for _, c := range []struct {
		column string
		values []string
	}{{"d.bundle", f.bundles}, {"d.lang", f.languages}} {
		if len(c.values) == 0 {
			continue
		}
		part, partArgs, err := db.In(" and "+c.column+" in (?)", c.values)
		if err != nil {
			return "", nil, err
		}
		where += part
		args = append(args, partArgs...)
	}
	return where, args, nil
}

// A found row is a chunk as it is shown.
type found struct {
	ID        int64      `db:"id"`
	Type      string     `db:"entity_type"`
	EntityID  string     `db:"entity_id"`
	Lang      string     `db:"lang"`
	Bundle    string     `db:"bundle"`
	Title     string     `db:"title"`
	Path      string     `db:"path"`
	Languages string     `db:"languages"`
	Date      *time.Time `db:"date"`
	Origin    *string    `db:"origin"`
	Heading   string     `db:"heading"`
	Anchor    string     `db:"anchor"`
	Text      string     `db:"text"`
	Start     int        `db:"start_offset"`
	End       int        `db:"end_offset"`
}

func readFound(ctx context.Context, d *db.DB, ids []int64) ([]found, error) {
	var rows []found
	err := d.Select(ctx, &rows, "select c.id, d.entity_type, d.entity_id, d.lang, d.bundle, d.title, d.path, d.languages, "+
		"d.date, e.origin, c.heading, c.anchor, c.text, c.start_offset, c.end_offset from search_chunks c "+
		"join search_documents d on d.id = c.document_id left join entities e on e.id = d.entity_id "+
		"where c.id in ("+idList(ids)+")")
	return rows, err
}

// version changes whenever the index does.
type version struct {
	Documents int        `db:"documents"`
	Changed   *time.Time `db:"changed"`
}

func readVersion(ctx context.Context, d *db.DB) (version, error) {
	var v version
	if err := d.Get(ctx, &v.Documents, "select count(*) from search_documents"); err != nil {
		return v, err
	}
	var changed time.Time
	err := d.Get(ctx, &changed, "select indexed_at from search_documents order by indexed_at desc limit 1")
	if errors.Is(err, db.ErrNotFound) {
		return v, nil
	}
	if err != nil {
		return v, err
	}
	changed = changed.UTC()
	v.Changed = &changed
	return v, nil
}

func readStats(ctx context.Context, d *db.DB) (Stats, error) {
	v, err := readVersion(ctx, d)
	if err != nil {
		return Stats{}, err
	}
	s := Stats{Documents: v.Documents}
	if v.Changed != nil {
		s.LastChange = *v.Changed
	}
	err = d.Get(ctx, &s.Chunks, "select count(*) from search_chunks")
	return s, err
}

// readFrequencies reads in how many chunks every term stands.
func readFrequencies(ctx context.Context, d *db.DB) (map[string]int, error) {
	query := "select term, doc from search_vocabulary"
	if d.Dialect() == db.Postgres {
		query = "select word, ndoc from ts_stat('select terms from search_terms')"
	}
	rows, err := d.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var term string
		var n int
		if err := rows.Scan(&term, &n); err != nil {
			return nil, err
		}
		out[term] = n
	}
	return out, rows.Err()
}

// readShape reads sizes that ranking needs: chunks, terms in a body on average.
func readShape(ctx context.Context, d *db.DB) (chunks int, terms float64, err error) {
	var row struct {
		Chunks int     `db:"chunks"`
		Terms  float64 `db:"terms"`
	}
	err = d.Get(ctx, &row, "select count(*) as chunks, coalesce(sum(length), 0) as terms from search_chunks")
	return row.Chunks, row.Terms, err
}

// readLanguages reads the documents' languages, the most common first.
func readLanguages(ctx context.Context, d *db.DB) ([]string, error) {
	var langs []string
	err := d.Select(ctx, &langs, "select lang from search_documents group by lang order by count(*) desc, lang")
	return langs, err
}

// readNewest reads the date of the newest document.
func readNewest(ctx context.Context, d *db.DB) (time.Time, error) {
	var newest time.Time
	err := d.Get(ctx, &newest, "select date from search_documents where date is not null order by date desc limit 1")
	if errors.Is(err, db.ErrNotFound) {
		return time.Time{}, nil
	}
	return newest.UTC(), err
}
