package handlers

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// overview handles GET /admin/config: what the site is set up with, and what is
// still missing.
func (h *Handlers) overview(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	page := views.OverviewPage{Admin: h.admin(c), Writable: h.ConfigWritable}
	site, err := h.siteOverview(ctx)
	if err != nil {
		return err
	}
	structure, err := h.structureOverview(ctx, who)
	if err != nil {
		return err
	}
	people, err := h.peopleOverview(ctx, who)
	if err != nil {
		return err
	}
	page.Sections = append(page.Sections, site)
	for _, s := range []views.OverviewSection{structure, people} {
		if len(s.Items) > 0 {
			page.Sections = append(page.Sections, s)
		}
	}
	return h.render(c, http.StatusOK, views.Overview(page))
}

func (h *Handlers) siteOverview(ctx context.Context) (views.OverviewSection, error) {
	section := views.OverviewSection{Title: i18n.T(ctx, "overview.site")}
	settings, err := config.Get[config.Settings](ctx, h.Config, config.SiteName)
	if err != nil {
		return section, err
	}
	languages, err := config.Languages(ctx, h.Config)
	if err != nil {
		return section, err
	}
	item := views.OverviewItem{Label: i18n.T(ctx, "settings.title"), URL: "/admin/config/site", Value: settings.SiteName}
	if settings.ContactPath == "" {
		item.Missing = append(item.Missing, i18n.T(ctx, "overview.no_contact"))
	}
	if settings.TimeZone == "UTC" {
		item.Missing = append(item.Missing, i18n.T(ctx, "overview.utc"))
	}
	var names []string
	for _, l := range languages {
		names = append(names, l.Value.Label)
		if len(settings.Suggestions[l.Name]) == 0 {
			item.Missing = append(item.Missing, i18n.T(ctx, "overview.no_suggestions", l.Value.Label))
		}
	}
	all := account.Account{Roles: []string{account.RoleAdministrator}}
	languageItem := views.OverviewItem{Label: i18n.T(ctx, "languages.title"), URL: languagesURL, Value: strings.Join(names, ", ")}
	for _, l := range languages {
		_, err := h.Content.ByPath(ctx, all, l.Name, "/")
		if errors.Is(err, db.ErrNotFound) {
			languageItem.Missing = append(languageItem.Missing, i18n.T(ctx, "overview.no_front", l.Value.Label))
		}
	}
	section.Items = []views.OverviewItem{item, languageItem}
	return section, nil
}

func (h *Handlers) structureOverview(ctx context.Context, who account.Account) (views.OverviewSection, error) {
	section := views.OverviewSection{Title: i18n.T(ctx, "rail.structure")}
	if who.Can(account.AdministerStructure) {
		types, err := config.All[config.ContentType](ctx, h.Config)
		if err != nil {
			return section, err
		}
		formats, err := config.All[config.TextFormat](ctx, h.Config)
		if err != nil {
			return section, err
		}
		item := views.OverviewItem{Label: i18n.T(ctx, "types.title"), URL: typesURL, Value: i18n.T(ctx, "number", len(types))}
		for _, t := range types {
			if len(t.Value.Fields) == 0 {
				item.Missing = append(item.Missing, i18n.T(ctx, "overview.no_fields", t.Value.Label))
			}
		}
		blocks, err := h.blocksOverview(ctx, who)
		if err != nil {
			return section, err
		}
		section.Items = append(section.Items, item, blocks,
			views.OverviewItem{Label: i18n.T(ctx, "formats.title"), URL: formatsURL, Value: i18n.T(ctx, "number", len(formats))})
	}
	if who.Can(account.AdministerTerms) {
		vocabularies, err := config.All[config.Vocabulary](ctx, h.Config)
		if err != nil {
			return section, err
		}
		section.Items = append(section.Items, views.OverviewItem{Label: i18n.T(ctx, "terms.title"), URL: termsURL, Value: i18n.T(ctx, "number", len(vocabularies))})
	}
	if who.Can(account.AdministerMenus) {
		item := views.OverviewItem{Label: i18n.T(ctx, "menus.title"), URL: menusURL, Value: i18n.T(ctx, "number", len(menuNames()))}
		entries, err := h.Content.Menu(ctx, who, h.Content.DefaultLanguage(), "main")
		if err != nil {
			return section, err
		}
		if len(entries) == 0 {
			item.Missing = append(item.Missing, i18n.T(ctx, "overview.no_menu"))
		}
		section.Items = append(section.Items, item)
	}
	if who.Can(account.AdministerRedirects) {
		_, n, err := h.Content.List(ctx, who, content.Filter{Type: content.TypeRedirect, Limit: 1})
		if err != nil {
			return section, err
		}
		section.Items = append(section.Items, views.OverviewItem{Label: i18n.T(ctx, "redirects.title"), URL: redirectsURL, Value: i18n.T(ctx, "number", n)})
	}
	return section, nil
}

// blocksOverview counts the placed blocks and names those that aim at nothing.
func (h *Handlers) blocksOverview(ctx context.Context, who account.Account) (views.OverviewItem, error) {
	placed, err := h.placements(ctx)
	item := views.OverviewItem{Label: i18n.T(ctx, "blocks.title"), URL: blocksURL, Value: i18n.T(ctx, "number", len(placed))}
	for _, p := range placed {
		target := ""
		switch {
		case p.Value.Question != nil:
			target = p.Value.Question.Target
		case p.Value.Sources != nil:
			target = p.Value.Sources.Target
		default:
			continue
		}
		if _, ok := h.answerBlock(ctx, who, target, i18n.Language(ctx)); !ok {
			item.Missing = append(item.Missing, i18n.T(ctx, "overview.block_aims_at_nothing", p.Value.Label))
		}
	}
	return item, err
}

func (h *Handlers) peopleOverview(ctx context.Context, who account.Account) (views.OverviewSection, error) {
	section := views.OverviewSection{Title: i18n.T(ctx, "rail.people")}
	if who.Can(account.AdministerAccounts) {
		_, n, err := h.Accounts.List(ctx, 0, 1)
		if err != nil {
			return section, err
		}
		item := views.OverviewItem{Label: i18n.T(ctx, "accounts.title"), URL: "/admin/people", Value: i18n.T(ctx, "number", n)}
		if _, administrators, err := h.Accounts.Find(ctx, account.Filter{Role: account.RoleAdministrator}, 0, 1); err != nil {
			return section, err
		} else if administrators == 1 {
			item.Missing = append(item.Missing, i18n.T(ctx, "overview.one_administrator"))
		}
		section.Items = append(section.Items, item)
	}
	if who.Can(account.AdministerRoles) {
		roles, err := config.All[config.Role](ctx, h.Config)
		if err != nil {
			return section, err
		}
		item := views.OverviewItem{Label: i18n.T(ctx, "roles.title"), URL: rolesURL, Value: i18n.T(ctx, "number", len(roles))}
		for _, r := range roles {
			if len(r.Value.Permissions) == 0 && r.Name != account.RoleAdministrator {
				item.Missing = append(item.Missing, i18n.T(ctx, "overview.empty_role", r.Value.Label))
			}
		}
		section.Items = append(section.Items, item)
	}
	return section, nil
}

//go:embed timezones.txt
var zoneNames string

// timeZones are the names of time zones that a form offers.
func timeZones() []string { return strings.Fields(zoneNames) }
