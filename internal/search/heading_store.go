package search

import (
	"context"
	"slices"

	"docent/db"
	"docent/internal/account"
	"docent/internal/content"
)

// A Heading stands above a passage of an entity's page.
type Heading struct {
	content.Ref
	Text  string // plain
	Terms int    // of the passages below it, as the index counts them
}

// Headings returns the headings of entities in one language, each entity's in the
// order of its page, as far as the account may see them. A heading that several
// passages stand under comes once.
func (e *Engine) Headings(ctx context.Context, who account.Account, refs []content.Ref, lang string) ([]Heading, error) {
	if len(refs) == 0 || !who.Can(account.AccessContent) {
		return nil, nil
	}
	ids := make([]string, len(refs))
	for i, r := range refs {
		ids[i] = r.ID
	}
	query, args, err := db.In(`select d.entity_type, d.entity_id, d.view_roles, c.heading, c.length from search_chunks c
		join search_documents d on d.id = c.document_id
		where d.entity_id in (?) and d.lang = ? and not d.out_of_answers and c.heading <> '' order by c.id`, ids, lang)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Type      string `db:"entity_type"`
		EntityID  string `db:"entity_id"`
		ViewRoles string `db:"view_roles"`
		Heading   string `db:"heading"`
		Length    int    `db:"length"`
	}
	if err := e.db.Select(ctx, &rows, query, args...); err != nil {
		return nil, err
	}
	var out []Heading
	for _, r := range rows {
		roles, err := unmarshalStrings(r.ViewRoles)
		if err != nil {
			return nil, err
		}
		h := Heading{content.Ref{Type: r.Type, ID: r.EntityID}, r.Heading, r.Length}
		if !slices.Contains(refs, h.Ref) || !content.CanViewRoles(who, roles) {
			continue
		}
		if i := slices.IndexFunc(out, func(o Heading) bool { return o.Ref == h.Ref && o.Text == h.Text }); i >= 0 {
			out[i].Terms += h.Terms
			continue
		}
		out = append(out, h)
	}
	return out, nil
}
