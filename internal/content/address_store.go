package content

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// An Address is where a published page can be read, and who may.
type Address struct {
	Ref
	Bundle    string
	Lang      string
	Path      string // with the language's prefix
	ViewRoles []string
	ChangedAt time.Time
}

// Item is what decides about access to the page: see [CanView].
func (a Address) Item() Item {
	return Item{Ref: a.Ref, Bundle: a.Bundle, Lang: a.Lang, State: Published, Published: true, ViewRoles: a.ViewRoles}
}

// Addresses lists every published translation of every node that has an address
// of its own, without its text, the oldest entity first.
func (s *Store) Addresses(ctx context.Context) ([]Address, error) {
	var rows []struct {
		ID        string    `db:"id"`
		Bundle    string    `db:"bundle"`
		ViewRoles string    `db:"view_roles"`
		Lang      string    `db:"lang"`
		Path      string    `db:"path"`
		ChangedAt time.Time `db:"changed_at"`
	}
	err := s.d.Select(ctx, &rows, `select e.id, e.bundle, e.view_roles, t.lang, t.path, t.changed_at
		from translations t join entities e on e.id = t.entity_id
		where e.type = 'node' and t.published_revision_id is not null and t.path is not null order by e.id, t.lang`)
	if err != nil {
		return nil, fmt.Errorf("read addresses: %w", err)
	}
	out := make([]Address, len(rows))
	for i, r := range rows {
		out[i] = Address{
			Ref: Ref{Type: TypeNode, ID: r.ID}, Bundle: r.Bundle, Lang: r.Lang, Path: s.PublicPath(r.Lang, r.Path), ChangedAt: r.ChangedAt.UTC(),
		}
		if err := json.Unmarshal([]byte(r.ViewRoles), &out[i].ViewRoles); err != nil {
			return nil, fmt.Errorf("roles of entity %s: %w", r.ID, err)
		}
	}
	return out, nil
}
