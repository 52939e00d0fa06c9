package views

import (
	"context"
	"io"

	"github.com/a-h/templ"

	"docent/internal/i18n"
)

// inLanguage renders a part of a page in another language than the page's.
func inLanguage(lang string, part templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return part.Render(i18n.WithLanguage(ctx, lang), w)
	})
}
