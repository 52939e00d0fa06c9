package content

import (
	"context"
	"slices"

	"docent/internal/account"
	"docent/internal/config"
)

// Operations of [Store.May] that no single permission stands for.
const (
	OpView config.Operation = "view"
	OpEdit config.Operation = "edit" // any, or one's own
)

// CanView is the one place that decides whether an account may see an item: it
// must pass the item's list of roles and, while the item is not published, may
// see unpublished content of its type.
func CanView(a account.Account, it Item) bool {
	if !CanViewRoles(a, it.ViewRoles) {
		return false
	}
	if it.Published && it.State == Published {
		return a.Can(account.AccessContent)
	}
	return canViewUnpublished(a, it)
}

// CanViewRoles reports whether an account passes an entity's list of roles.
// Whoever may edit all content passes every list.
func CanViewRoles(a account.Account, viewRoles []string) bool {
	return len(viewRoles) == 0 || a.Can(account.EditContent) || slices.ContainsFunc(viewRoles, a.HasRole)
}

// canViewUnpublished reports whether an account may see what was not published
// of an item: drafts and former revisions too.
func canViewUnpublished(a account.Account, it Item) bool {
	return can(a, config.OpViewUnpublished, it) || can(a, config.OpEditAny, it) || it.isBy(a) && can(a, config.OpEditOwn, it)
}

func (it Item) isBy(a account.Account) bool { return a.ID != "" && it.AuthorID == a.ID }

// overPermissions hold every operation on an entity type.
var overPermissions = map[string]account.Permission{
	TypeTerm:     account.AdministerTerms,
	TypeMenuLink: account.AdministerMenus,
	TypeRedirect: account.AdministerRedirects,
}

// can reports whether an account has the permission for an operation on a bundle,
// or a permission that holds it.
func can(a account.Account, op config.Operation, it Item) bool {
	if over, ok := overPermissions[it.Type]; ok && a.Can(over) {
		return true
	}
	if op == config.OpViewUnpublished && a.Can(account.ViewUnpublished) {
		return true
	}
	return a.Can(account.EditContent) || a.Can(config.PermissionFor(op, it.Type, it.Bundle))
}

// May returns nil when an account may do something with an item, and
// [ErrForbidden] otherwise. Nobody may change what they may not see. Creating
// asks for nothing but the item's type and bundle.
func (s *Store) May(who account.Account, op config.Operation, it Item) error {
	allowed := false
	switch op {
	case config.OpCreate:
		allowed = can(who, op, it)
	case OpView:
		allowed = CanView(who, it)
	case config.OpViewUnpublished:
		allowed = CanViewRoles(who, it.ViewRoles) && canViewUnpublished(who, it)
	case OpEdit:
		allowed = mayRead(who, it) && (can(who, config.OpEditAny, it) || it.isBy(who) && can(who, config.OpEditOwn, it))
	default:
		allowed = mayRead(who, it) && can(who, op, it)
	}
	if !allowed {
		return ErrForbidden
	}
	return nil
}

// mayRead reports whether an account may see an item as it is, published or not.
func mayRead(who account.Account, it Item) bool {
	return CanView(who, it) || CanViewRoles(who, it.ViewRoles) && canViewUnpublished(who, it)
}

// A Transition leads from one state of the workflow to another.
type Transition struct {
	Op       config.Operation // which permission it takes
	From, To State
}

// transitions are the workflow.
var transitions = []Transition{
	{config.OpPublish, Draft, Published},
	{config.OpUnpublish, Published, Draft},
	{config.OpArchive, Published, Archived},
	{config.OpArchive, Draft, Archived},
	{config.OpRestore, Archived, Draft},
	{config.OpPublish, Archived, Published},
}

// Transitions lists what an account may do with the state of an item's latest
// revision. Of types without a workflow, content is public or archived, as
// whoever may edit it decides.
func (s *Store) Transitions(ctx context.Context, who account.Account, it Item) ([]Transition, error) {
	types, err := s.Types(ctx)
	if err != nil {
		return nil, err
	}
	var out []Transition
	for _, t := range transitions {
		if t.From == it.LatestState && s.mayMove(types, who, it, t) {
			out = append(out, t)
		}
	}
	return out, nil
}

// mayMove reports whether an account may take a transition.
func (s *Store) mayMove(types *Types, who account.Account, it Item, t Transition) bool {
	if types.hasWorkflow(it.Type, it.Bundle) {
		return s.May(who, t.Op, it) == nil
	}
	return t.To != Draft && s.May(who, OpEdit, it) == nil
}

// hasWorkflow reports whether a bundle has drafts. Content whose type is gone
// keeps the careful way.
func (t *Types) hasWorkflow(entity, bundle string) bool {
	ct, ok := t.Type(entity, bundle)
	return ct.Workflow || !ok && entity == TypeNode
}

// MayCreate lists the types of an entity type that an account may create.
func (s *Store) MayCreate(ctx context.Context, who account.Account, entity string) ([]config.Named[config.ContentType], error) {
	types, err := s.Types(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(types.Bundles(entity), func(n config.Named[config.ContentType]) bool {
		return !can(who, config.OpCreate, Item{Ref: Ref{Type: entity}, Bundle: n.Name})
	}), nil
}
