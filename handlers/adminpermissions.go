package handlers

import (
	"context"
	"slices"
	"strings"

	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/i18n"
)

// A permissionText is a permission in words.
type permissionText struct {
	permission account.Permission
	label      string
}

// permissionTexts are the permissions about one subject.
type permissionTexts struct {
	label       string
	permissions []permissionText
}

// permissionGroups lists every permission there is, by subject.
func (h *Handlers) permissionGroups(ctx context.Context) ([]permissionTexts, error) {
	of := func(label string, permissions ...account.Permission) permissionTexts {
		g := permissionTexts{label: label}
		for _, p := range permissions {
			g.permissions = append(g.permissions, permissionText{permission: p, label: permissionLabel(ctx, p)})
		}
		return g
	}
	groups := []permissionTexts{
		of(i18n.T(ctx, "roles.group_site"), account.AccessContent, account.UseAnswers),
		of(i18n.T(ctx, "content.title"), account.EditContent, account.ViewUnpublished),
		of(i18n.T(ctx, "rail.structure"), account.AdministerMenus, account.AdministerTerms, account.AdministerRedirects, account.AdministerStructure),
		of(i18n.T(ctx, "roles.group_administration"), account.AccessAdministration, account.AdministerAccounts, account.AdministerRoles,
			account.AdministerSite, account.AdministerAnswers, account.ViewAnswersTraces, account.AccessMetrics),
	}
	listed := map[account.Permission]bool{}
	for _, g := range groups {
		for _, p := range g.permissions {
			listed[p.permission] = true
		}
	}
	all, err := config.PermissionGroups(ctx, h.Config)
	if err != nil {
		return nil, err
	}
	formats := permissionTexts{label: i18n.T(ctx, "formats.title")}
	var typed []permissionTexts
	var others []account.Permission
	for _, g := range all {
		switch g.Kind {
		case "":
			for _, p := range g.Permissions {
				if !listed[p] {
					others = append(others, p)
				}
			}
		case config.TextFormat{}.Kind():
			for _, p := range g.Permissions {
				formats.permissions = append(formats.permissions, permissionText{permission: p, label: i18n.T(ctx, "permission.format", g.Label)})
			}
		default:
			typed = append(typed, typePermissions(ctx, g))
		}
	}
	if len(others) > 0 {
		groups = append(groups, of(i18n.T(ctx, "roles.group_other"), others...))
	}
	return append(append(groups, typed...), formats), nil
}

// typePermissions are those for the content of one type: each begins with what it
// lets somebody do.
func typePermissions(ctx context.Context, g config.PermissionGroup) permissionTexts {
	texts := permissionTexts{label: g.Label}
	for _, p := range g.Permissions {
		operation, _, _ := strings.Cut(string(p), " "+g.Name+" ")
		texts.permissions = append(texts.permissions, permissionText{
			permission: p, label: i18n.T(ctx, "permission.type."+strings.ReplaceAll(operation, " ", "_")),
		})
	}
	return texts
}

// dropUnknownPermissions takes from all roles the permissions that went with a
// type or a format, so that a later one of the same name is not granted by old
// roles.
func (h *Handlers) dropUnknownPermissions(ctx context.Context, by string) error {
	groups, err := config.PermissionGroups(ctx, h.Config)
	if err != nil {
		return err
	}
	known := map[account.Permission]bool{}
	for _, g := range groups {
		for _, p := range g.Permissions {
			known[p] = true
		}
	}
	roles, err := config.All[config.Role](ctx, h.Config)
	if err != nil {
		return err
	}
	for _, r := range roles {
		kept := slices.DeleteFunc(slices.Clone(r.Value.Permissions), func(p account.Permission) bool { return !known[p] })
		if len(kept) == len(r.Value.Permissions) {
			continue
		}
		r.Value.Permissions = kept
		if err := config.Put(ctx, h.Config, r.Name, r.Value, by); err != nil {
			return err
		}
	}
	return nil
}

// permissionLabel is a permission in the reader's language, or its own name.
func permissionLabel(ctx context.Context, p account.Permission) string {
	key := "permission." + strings.ReplaceAll(string(p), " ", "_")
	if text := i18n.T(ctx, "permission."+strings.ReplaceAll(string(p), " ", "_")); text != key {
		return text
	}
	return string(p)
}
