package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
)

// A Place is where an entity stands among others: in a menu, or among the terms of
// a vocabulary.
type Place struct {
	ID     string
	Menu   string            // of pages and menu links; empty: in none
	Parent string            // entity of the entry above it in the menu
	Titles map[string]string // labels in the menu by language; languages left out keep theirs
	Weight int
}

// PlaceInMenus changes where pages and menu links stand in menus. A place is not
// part of what a page says: it changes at once, without a revision, in all
// languages, and for drafts that wait too.
func (s *Store) PlaceInMenus(ctx context.Context, who account.Account, places []Place) error {
	if !can(who, config.OpEditAny, Item{Ref: Ref{Type: TypeMenuLink}}) {
		return ErrForbidden
	}
	return s.place(ctx, places, func(set *settings, p Place, lang string) {
		set.Menu, set.MenuParent, set.Weight = p.Menu, p.Parent, p.Weight
		if title, ok := p.Titles[lang]; ok {
			set.MenuTitle = title
		}
	})
}

// OrderTerms gives terms their order, the first one first.
func (s *Store) OrderTerms(ctx context.Context, who account.Account, vocabulary string, ids []string) error {
	if !can(who, config.OpEditAny, Item{Ref: Ref{Type: TypeTerm}, Bundle: vocabulary}) {
		return ErrForbidden
	}
	places := make([]Place, len(ids))
	for i, id := range ids {
		places[i] = Place{ID: id, Weight: i}
	}
	return s.place(ctx, places, func(set *settings, p Place, _ string) { set.Weight = p.Weight })
}

// place changes the settings of translations and those that their latest
// revisions hold for when they are published.
func (s *Store) place(ctx context.Context, places []Place, change func(set *settings, p Place, lang string)) error {
	return s.d.InTx(ctx, func(tx *db.DB) error {
		for _, p := range places {
			rows, err := s.In(tx).rows(ctx, fromLatest, "t.entity_id = ?", p.ID)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				return fmt.Errorf("place %s: %w", p.ID, db.ErrNotFound)
			}
			for _, r := range rows {
				shown := settings{Menu: r.Menu, MenuTitle: r.MenuTitle, MenuParent: r.MenuParent, Weight: r.Weight}
				change(&shown, p, r.Lang)
				if _, err := tx.Exec(ctx, `update translations set menu = ?, menu_title = ?, menu_parent = ?, weight = ?
					where entity_id = ? and lang = ?`, shown.Menu, shown.MenuTitle, shown.MenuParent, shown.Weight, r.ID, r.Lang); err != nil {
					return err
				}
				if r.Settings == "" {
					continue
				}
				waiting, err := settingsOf(r)
				if err != nil {
					return err
				}
				change(&waiting, p, r.Lang)
				data, err := json.Marshal(waiting)
				if err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, "update revisions set settings = ? where id = ?", string(data), r.RevisionID); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// MergeTerms puts one term in place of another wherever that is referred to, in
// the history too, and deletes the other, whose address then leads to the one
// that stays. Both must be of one vocabulary.
func (s *Store) MergeTerms(ctx context.Context, who account.Account, from, into Ref) error {
	return s.d.InTx(ctx, func(tx *db.DB) error {
		var terms [2]row
		for i, ref := range []Ref{from, into} {
			r, err := entityRow(ctx, tx, ref.ID)
			if err == nil && r.Type != TypeTerm {
				err = db.ErrNotFound
			}
			if err != nil {
				return err
			}
			it := Item{Ref: Ref{Type: TypeTerm, ID: r.ID}, Bundle: r.Bundle}
			if !can(who, config.OpEditAny, it) || !can(who, config.OpDelete, it) {
				return ErrForbidden
			}
			terms[i] = r
		}
		if from.ID == into.ID || terms[0].Bundle != terms[1].Bundle {
			return invalid("into", "must be another term of the same vocabulary")
		}
		changed, err := replaceReferences(ctx, tx, from.ID, into.ID)
		if err != nil {
			return err
		}
		if err := deleteEntity(ctx, tx, from.ID); err != nil {
			return err
		}
		if origin, ok := strings.CutPrefix(terms[0].EntityOrigin.String, termOrigin); ok {
			for _, lang := range s.Languages() {
				if err := insertAlias(ctx, tx, lang, "/"+origin+"/", into.ID); err != nil {
					return err
				}
			}
		}
		return s.opts.OnChange(ctx, tx, append(changed, from.ID, into.ID))
	})
}

// replaceReferences makes everything that refers to one entity refer to another,
// and returns the ids of the entities it changed.
func replaceReferences(ctx context.Context, tx *db.DB, from, into string) (changed []string, err error) {
	var revisions []struct {
		ID     string `db:"id"`
		Entity string `db:"entity_id"`
		Fields string `db:"fields"`
	}
	if err := tx.Select(ctx, &revisions, "select id, entity_id, fields from revisions where fields like ?", `%"`+likeEscape.Replace(from)+`"%`); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, r := range revisions {
		var fields Fields
		d := json.NewDecoder(strings.NewReader(r.Fields))
		d.UseNumber() // what is not replaced stays as it is
		if err := d.Decode(&fields); err != nil {
			return nil, fmt.Errorf("fields of revision %s: %w", r.ID, err)
		}
		for name, value := range fields {
			fields[name] = replaceID(value, from, into)
		}
		data, err := fields.marshal()
		if err != nil {
			return nil, err
		}
		if _, err := tx.Exec(ctx, "update revisions set fields = ? where id = ?", string(data), r.ID); err != nil {
			return nil, err
		}
		if !seen[r.Entity] {
			seen[r.Entity] = true
			changed = append(changed, r.Entity)
		}
	}
	for _, statement := range []string{
		`insert into entity_terms (entity_id, lang, term_id) select entity_id, lang, ? from entity_terms where term_id = ?
			on conflict (entity_id, lang, term_id) do nothing`,
		`insert into usages (entity_id, lang, field, target, live) select entity_id, lang, field, ?, live from usages where target = ?
			on conflict (entity_id, lang, field, target) do nothing`,
	} {
		if _, err := tx.Exec(ctx, statement, into, from); err != nil {
			return nil, err
		}
	}
	_, err = tx.Exec(ctx, "delete from usages where target = ?", from)
	return changed, err
}

// replaceID puts an id in place of another in a field's value. A list names
// nothing twice.
func replaceID(value any, from, into string) any {
	switch v := value.(type) {
	case string:
		if v == from {
			return into
		}
	case []any:
		var out []any
		has := false
		for _, one := range v {
			one = replaceID(one, from, into)
			if one == any(into) {
				if has {
					continue
				}
				has = true
			}
			out = append(out, one)
		}
		return out
	}
	return value
}

// CountValues counts the translations of a bundle whose latest revision has a
// value in a field.
func (s *Store) CountValues(ctx context.Context, entity, bundle, field string) (n int, err error) {
	name, err := json.Marshal(field)
	if err != nil {
		return 0, err
	}
	err = s.d.Get(ctx, &n, `select count(*) from translations t join entities e on e.id = t.entity_id
		join revisions r on r.id = t.latest_revision_id
		where e.type = ? and e.bundle = ? and r.fields like ? escape '\'`, entity, bundle, "%"+likeEscape.Replace(string(name)+":")+"%")
	if err != nil {
		return 0, fmt.Errorf("count values of %s.%s: %w", bundle, field, err)
	}
	return n, nil
}

// CountRedirect notes that the redirect at an address was followed, and reports
// whether there is one.
func (s *Store) CountRedirect(ctx context.Context, lang, path string) (bool, error) {
	p, err := NormalizePath(path)
	if err != nil {
		return false, nil
	}
	var id string
	err = s.d.Get(ctx, &id, `select t.entity_id from translations t join entities e on e.id = t.entity_id
		where e.type = 'redirect' and t.lang = ? and t.path = ?`, lang, p)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("count redirect: %w", err)
	}
	_, err = s.d.Exec(ctx, `insert into redirect_hits (entity_id, hits, last_at) values (?, 1, ?)
		on conflict (entity_id) do update set hits = redirect_hits.hits + 1, last_at = excluded.last_at`, id, db.Now())
	if err != nil {
		return false, fmt.Errorf("count redirect: %w", err)
	}
	return true, nil
}

// RedirectHits tells how often redirects were followed, by their ids.
func (s *Store) RedirectHits(ctx context.Context, ids []string) (map[string]int, error) {
	hits := map[string]int{}
	if len(ids) == 0 {
		return hits, nil
	}
	query, args, err := db.In("select entity_id, hits from redirect_hits where entity_id in (?)", ids)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		ID   string `db:"entity_id"`
		Hits int    `db:"hits"`
	}
	if err := s.d.Select(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("redirect hits: %w", err)
	}
	for _, r := range rows {
		hits[r.ID] = r.Hits
	}
	return hits, nil
}

// CountLanguages counts the translations in each language, whatever they are of.
func (s *Store) CountLanguages(ctx context.Context) (map[string]int, error) {
	var rows []struct {
		Lang string `db:"lang"`
		N    int    `db:"n"`
	}
	if err := s.d.Select(ctx, &rows, "select lang, count(*) as n from translations group by lang"); err != nil {
		return nil, fmt.Errorf("count languages: %w", err)
	}
	counts := map[string]int{}
	for _, r := range rows {
		counts[r.Lang] = r.N
	}
	return counts, nil
}
