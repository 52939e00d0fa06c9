package handlers

import (
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/account"
	"docent/internal/i18n"
	"docent/views"
)

// rail is the administration's navigation, as far as the account may go. A group
// of pages is one entry, whose pages are tabs while one of them is shown.
func (h *Handlers) rail(c echo.Context) []views.AdminItem {
	ctx, who := c.Request().Context(), h.account(c)
	if !who.Can(account.AccessAdministration) {
		return nil
	}
	var groups []views.AdminItem
	page := func(label, url string, icon components.IconPath) {
		groups = append(groups, views.AdminItem{Label: label, URL: url, Icon: icon})
	}
	// group leads to the first of its pages that the account may see.
	group := func(label string, icon components.IconPath, pages ...views.AdminItem) {
		var seen []views.AdminItem
		for _, p := range pages {
			if p.URL != "" {
				seen = append(seen, p)
			}
		}
		if len(seen) > 0 {
			groups = append(groups, views.AdminItem{Label: label, URL: seen[0].URL, Icon: icon, Items: seen})
		}
	}
	tab := func(label, url string, permissions ...account.Permission) views.AdminItem {
		if !slices.ContainsFunc(permissions, who.Can) {
			return views.AdminItem{}
		}
		return views.AdminItem{Label: label, URL: url}
	}
	page(i18n.T(ctx, "dashboard.title"), "/admin", components.IconHome)
	page(i18n.T(ctx, "content.title"), "/admin/content", components.IconPage)
	page(i18n.T(ctx, "media.title"), "/admin/media", components.IconMedium)
	group(i18n.T(ctx, "rail.structure"), components.IconGrid,
		tab(i18n.T(ctx, "menus.title"), "/admin/structure/menus", account.AdministerMenus, account.EditContent),
		tab(i18n.T(ctx, "terms.title"), "/admin/structure/terms", account.AdministerTerms, account.EditContent),
		tab(i18n.T(ctx, "redirects.title"), "/admin/structure/redirects", account.AdministerRedirects, account.EditContent),
		tab(i18n.T(ctx, "blocks.title"), blocksURL, account.AdministerStructure),
		tab(i18n.T(ctx, "types.title"), "/admin/structure/types", account.AdministerStructure),
		tab(i18n.T(ctx, "formats.title"), "/admin/structure/formats", account.AdministerStructure),
	)
	group(i18n.T(ctx, "rail.people"), components.IconPeople,
		tab(i18n.T(ctx, "accounts.title"), "/admin/people", account.AdministerAccounts),
		tab(i18n.T(ctx, "roles.title"), "/admin/people/roles", account.AdministerRoles),
	)
	group(i18n.T(ctx, "rail.config"), components.IconGear,
		tab(i18n.T(ctx, "overview.title"), "/admin/config", account.AdministerSite),
		tab(i18n.T(ctx, "overview.site"), "/admin/config/site", account.AdministerSite),
		tab(i18n.T(ctx, "languages.title"), "/admin/config/languages", account.AdministerSite),
	)
	group(i18n.T(ctx, "rail.answers"), components.IconSearch,
		tab(i18n.T(ctx, "agents.title"), agentsURL, account.AdministerAnswers),
		tab(i18n.T(ctx, "contexts.title"), contextsURL, account.AdministerAnswers),
		tab(i18n.T(ctx, "answer_settings.title"), answersConfigURL, account.AdministerAnswers),
	)
	// Vocabularies are set up where their terms are.
	group(i18n.T(ctx, "rail.reports"), components.IconChart,
		tab(i18n.T(ctx, "runs.title"), runsURL, account.ViewAnswersTraces),
		tab(i18n.T(ctx, "status.title"), "/admin/reports/status", account.AdministerSite),
	)
	markCurrent(groups, strings.Replace(c.Request().URL.Path, vocabularyShapes, termsURL, 1))
	return groups
}

// markCurrent marks the entry whose address is the longest beginning of path, and
// its group.
func markCurrent(groups []views.AdminItem, path string) {
	var best *views.AdminItem
	var around *views.AdminItem
	consider := func(item, group *views.AdminItem) {
		inside := path == item.URL || item.URL != "/admin" && strings.HasPrefix(path, item.URL+"/")
		if inside && (best == nil || len(item.URL) >= len(best.URL)) {
			best, around = item, group
		}
	}
	for i := range groups {
		consider(&groups[i], &groups[i])
		for j := range groups[i].Items {
			consider(&groups[i].Items[j], &groups[i])
		}
	}
	if best != nil {
		best.Current, around.Current = true, true
	}
}
