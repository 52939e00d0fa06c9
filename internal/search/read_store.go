package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"docent/db"
)

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
	Origin    string     `db:"origin"`
	Heading   string     `db:"heading"`
	Anchor    string     `db:"anchor"`
	Text      string     `db:"text"`
	Start     int        `db:"start_offset"`
	End       int        `db:"end_offset"`
}

func readFound(ctx context.Context, d *db.DB, ids []int64) ([]found, error) {
	var rows []found
	err := d.Select(ctx, &rows, "select c.id, d.entity_type, d.entity_id, d.lang, d.bundle, d.title, d.path, d.languages, "+
		"d.date, d.origin, c.heading, c.anchor, c.text, c.start_offset, c.end_offset from search_chunks c "+
		"join search_documents d on d.id = c.document_id "+
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

// readBags reads the terms of every n-th document.
func readBags(ctx context.Context, d *db.DB, n int) ([]bag, error) {
	rows, err := d.Query(ctx, "select d.id, d.title_terms, c.heading_terms, c.body_terms from search_chunks c "+
		"join search_documents d on d.id = c.document_id where d.id % ? = 0 order by c.id", n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []bag
	last := int64(-1)
	for rows.Next() {
		var id int64
		var title, heading, body string
		if err := rows.Scan(&id, &title, &heading, &body); err != nil {
			return nil, err
		}
		if id != last {
			out, last = append(out, bag{}), id
		}
		b := out[len(out)-1]
		b.add(title, 2)
		b.add(heading, 1)
		b.add(body, 1)
	}
	return out, rows.Err()
}
