package content

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
)

// viewable is [CanView] as a condition on the rows of fromShown.
func viewable(who account.Account) (cond string, args []any) {
	roles := "1 = 1"
	if !who.Can(account.EditContent) {
		roles = "t.view_roles = '[]'"
		for _, role := range who.Roles {
			// A role's JSON text appears in the JSON array exactly when the role is in it:
			// role names hold no comma, and inside of a string a quote is escaped. Unlike
			// "like", replace tells upper from lower case on both databases.
			token, _ := json.Marshal(role)
			if strings.Contains(role, ",") {
				continue
			}
			roles += " or replace(t.view_roles, ?, '') <> t.view_roles"
			args = append(args, string(token))
		}
	}
	published := "1 = 0"
	if who.Can(account.AccessContent) {
		published = "t.published_revision_id is not null"
	}
	unpublished, more := viewableUnpublished(who)
	return "(" + roles + ") and (" + published + " or t.published_revision_id is null and (" + unpublished + "))", append(args, more...)
}

// viewableUnpublished is canViewUnpublished as a condition.
func viewableUnpublished(who account.Account) (cond string, args []any) {
	if who.Can(account.ViewUnpublished) || who.Can(account.EditContent) {
		return "1 = 1", nil
	}
	cond = "1 = 0"
	for _, entity := range slices.Sorted(maps.Keys(overPermissions)) {
		if who.Can(overPermissions[entity]) {
			cond += " or t.type = ?"
			args = append(args, entity)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(who.Permissions)) {
		if !who.Permissions[p] {
			continue
		}
		op, entity, bundle := config.ParsePermission(p)
		switch op {
		case config.OpViewUnpublished, config.OpEditAny:
			cond += " or t.type = ? and t.bundle = ?"
			args = append(args, entity, bundle)
		case config.OpEditOwn:
			if who.ID != "" {
				cond += " or t.author_id = ? and t.type = ? and t.bundle = ?"
				args = append(args, who.ID, entity, bundle)
			}
		}
	}
	return cond, args
}

// An ordering is what a list is sorted by, ascending and descending.
type ordering struct{ up, down string }

var orders = map[Order]ordering{
	"": {
		"t.weight, t.title_key, t.entity_id, t.lang",
		"t.weight desc, t.title_key desc, t.entity_id desc, t.lang desc",
	},
	ByTitle: {
		"t.title_key, t.entity_id, t.lang",
		"t.title_key desc, t.entity_id desc, t.lang desc",
	},
	ByDate: {
		"case when t.date is null then 1 else 0 end, t.date desc, t.title_key, t.entity_id, t.lang",
		"case when t.date is null then 1 else 0 end, t.date, t.title_key, t.entity_id, t.lang",
	},
	ByChanged: {
		"t.updated_at desc, t.entity_id, t.lang",
		"t.updated_at, t.entity_id, t.lang",
	},
	ByCreated: {
		"t.entity_id desc, t.lang", // ids grow with time
		"t.entity_id, t.lang",
	},
}

// condition is a filter in SQL, with what decides about access.
func (f Filter) condition(who account.Account) (where string, args []any) {
	where, args = viewable(who)
	add := func(cond string, more ...any) {
		where += " and " + cond
		args = append(args, more...)
	}
	if f.Type != "" {
		add("t.type = ?", f.Type)
	}
	if f.Bundle != "" {
		add("t.bundle = ?", f.Bundle)
	}
	if len(f.Bundles) > 0 {
		add("t.bundle in (?)", f.Bundles)
	}
	if f.Author != "" {
		add("t.author_id = ?", f.Author)
	}
	if f.Lang != "" {
		add("t.lang = ?", f.Lang)
	}
	if f.ParentPath != "" {
		add("t.parent_path = ?", f.ParentPath)
	}
	if f.Menu != "" {
		add("t.menu = ?", f.Menu)
	}
	if f.TermID != "" {
		add("exists (select 1 from entity_terms et where et.entity_id = t.entity_id and et.lang = t.lang and et.term_id = ?)", f.TermID)
	}
	switch f.State {
	case "":
	case Published:
		add("t.published_revision_id is not null")
	default:
		add("t.state = ?", string(f.State))
	}
	if len(f.States) > 0 {
		add("t.state in (?)", f.States)
	}
	if f.NewerDraft {
		add("t.published_revision_id is not null and t.latest_revision_id <> t.published_revision_id")
	}
	if text := strings.TrimSpace(f.Text); text != "" {
		pattern := "%" + likeEscape.Replace(titleKey(truncate(text, 200))) + "%"
		add(`(t.title_key like ? escape '\' or t.path like ? escape '\')`, pattern, pattern)
	}
	return where, args
}

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// List reads the translations that pass a filter and that the account may see,
// with the revision shown, and how many there are in all. It agrees with [CanView].
func (s *Store) List(ctx context.Context, who account.Account, f Filter) (items []Item, total int, err error) {
	order, ok := orders[f.Order]
	if !ok {
		return nil, 0, fmt.Errorf("list content: no order %q", f.Order)
	}
	by := order.up
	if f.Reverse {
		by = order.down
	}
	where, args := f.condition(who)
	query, counted, err := db.In("select count(*) from translations t where "+where, args...)
	if err != nil {
		return nil, 0, err
	}
	if err := s.d.Get(ctx, &total, query, counted...); err != nil {
		return nil, 0, fmt.Errorf("count content: %w", err)
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 50
	}
	items, err = s.shown(ctx, where+" order by "+by+" limit ? offset ?", append(args, limit, max(f.Offset, 0))...)
	return items, total, err
}
