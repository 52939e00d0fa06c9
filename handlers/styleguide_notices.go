package handlers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"

	"docent/components"
	"docent/internal/i18n"
	"docent/views"
)

// inside renders part with what scripts put into it later: it stands at the end of
// the element that mark is in, before the tag that closes it.
func inside(part templ.Component, mark, closing string, what templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var html bytes.Buffer
		if err := part.Render(ctx, &html); err != nil {
			return err
		}
		before, after, found := strings.Cut(html.String(), mark)
		content, rest, closed := strings.Cut(after, closing)
		if !found || !closed {
			return fmt.Errorf("style guide: no %s with %s in a sample", mark, closing)
		}
		if _, err := io.WriteString(w, before+mark+content); err != nil {
			return err
		}
		if err := what.Render(ctx, w); err != nil {
			return err
		}
		_, err := io.WriteString(w, closing+rest)
		return err
	})
}

// noticed is a Question block whose question is kept, with a text of the scripts.
func (s samples) noticed(id, key string) templ.Component {
	p := s.question(id, components.QuestionLine)
	p.Value = s.short
	return inside(components.Question(p), `id="`+p.ID+`-notice"`, "</div>", views.StyleNotice(s.t(key), nil))
}

// notStopped is a turn whose Stop did not get through.
func (s samples) notStopped() templ.Component {
	p := s.whole("stop")
	p.State, p.SourceCount, p.StopURL = components.TurnWriting, 5, styleguideURL
	return inside(components.Answer(s.block("stop", p)), `hx-swap="none"`, "</form>", views.StyleNotice(s.t("script.action_failed"), nil))
}

// notShared is a whole turn to which there can be no link any more.
func (s samples) notShared() templ.Component {
	p := s.whole("unshared")
	p.Share = &components.ShareProps{ID: p.DOMID + "-share", Action: styleguideURL}
	return inside(components.Answer(s.block("unshared", p)), `id="`+p.Share.ID+`-notice"`, "</div>", s.refusedNotice(http.StatusConflict, s.t("share.changed")))
}

// recent is the list of recent questions as scripts fill it.
func (s samples) recent(id string) templ.Component {
	ctx := s.c.Request().Context()
	day := time.Date(2027, time.January, 28, 9, 0, 0, 0, time.UTC)
	var asked []components.RecentQuestion
	for i, text := range append([]string{s.long, japaneseQuestion}, s.suggestions...) {
		at := day.AddDate(0, 0, -i)
		asked = append(asked, components.RecentQuestion{ID: fmt.Sprintf("%s-%d", id, i), Text: text, Time: at.Format(time.RFC3339), Day: i18n.Date(ctx, at)})
	}
	return views.StyleRecent(components.RecentQuestions("answer-"+id, asked))
}

// japanese is a whole turn in a script without spaces.
func (s samples) japanese(id string) components.TurnProps {
	p := s.turn(id, components.TurnDone)
	p.Lang, p.Question, p.CitedCount = "ja", japaneseQuestion, 2
	p.Blocks = s.blocks(p.DOMID, japaneseText)
	return p
}
