package handlers

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// changesShown is how many of an object's changes its page lists.
const changesShown = 10

// writableStructure lets structure be changed only where the program's settings
// allow it.
func (h *Handlers) writableStructure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !h.ConfigWritable {
			ctx := c.Request().Context()
			return refuse(http.StatusForbidden, i18n.T(ctx, "structure.locked")+" "+i18n.T(ctx, "structure.locked_text")+" DOCENT_CONFIG_WRITABLE=on")
		}
		return next(c)
	}
}

// structure handles GET /admin/structure: the first of its pages that the account
// may see.
func (h *Handlers) structure(c echo.Context) error {
	for _, group := range h.rail(c) {
		if strings.HasPrefix(group.URL, "/admin/structure/") {
			return c.Redirect(http.StatusSeeOther, group.URL)
		}
	}
	return refuse(http.StatusForbidden, "")
}

// history lists the last changes of a configuration object with who made them.
// It is a help, not the page: when it cannot be read it is left out.
func history[T config.Object](h *Handlers, c echo.Context, name string) []views.Change {
	ctx := c.Request().Context()
	changes, err := config.Changes[T](ctx, h.Config, name, changesShown)
	if err != nil {
		h.Log.Error("history", "error", err)
		return nil
	}
	var ids []string
	for _, change := range changes {
		if change.By != "" {
			ids = append(ids, change.By)
		}
	}
	names, err := h.Accounts.Names(ctx, ids)
	if err != nil {
		h.Log.Error("history", "error", err)
		return nil
	}
	out := make([]views.Change, len(changes))
	for i, change := range changes {
		out[i] = views.Change{When: change.At}
		if change.By != "" {
			out[i].Who = names[change.By]
			if out[i].Who == "" {
				out[i].Who = i18n.T(ctx, "changes.gone")
			}
		}
		switch {
		case change.Before == "":
			out[i].What = i18n.T(ctx, "changes.created")
		case change.After == "":
			out[i].What = i18n.T(ctx, "changes.deleted")
		default:
			out[i].What = i18n.T(ctx, "changes.changed", strings.Join(change.Fields(), ", "))
		}
	}
	return out
}

// refuseControls puts what was refused beside the controls it concerns. What no
// control is about goes beside the first one, so that nothing is kept silent.
func refuseControls(groups []views.FormGroup, refused map[string]string) {
	shown := map[string]bool{}
	for i := range groups {
		for j := range groups[i].Controls {
			control := &groups[i].Controls[j]
			field, _, _ := strings.Cut(control.Name, ".")
			for _, name := range []string{control.Name, field} {
				if message, ok := refused[name]; ok && control.Error == "" {
					control.Error = sentence(message)
					shown[name] = true
				}
			}
		}
	}
	for name, message := range refused {
		if shown[name] {
			continue
		}
		for i := range groups {
			for j := range groups[i].Controls {
				control := &groups[i].Controls[j]
				if control.Kind == views.ControlHidden {
					continue
				}
				control.Error = strings.TrimSpace(control.Error + " " + sentence(strings.TrimSpace(name+" "+message)))
				return
			}
		}
	}
}

// leadTo redirects to a page that says what was done.
func leadTo(c echo.Context, path, done string) error {
	return c.Redirect(http.StatusSeeOther, path+"?done="+url.QueryEscape(done))
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// nameFrom makes a name for programs from a label, for forms in which none was
// entered; empty when the label has no Latin letter.
func nameFrom(label string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(label), "_"), "_")
	name = strings.TrimLeft(name, "0123456789_")
	if len(name) > 60 {
		name = strings.TrimRight(name[:60], "_")
	}
	return name
}
