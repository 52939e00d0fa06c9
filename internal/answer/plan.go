package answer

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"docent/db"
	"docent/internal/config"
	"docent/internal/llm"
)

// A plan is what a run works by, as it was when the question came.
type plan struct {
	name  string
	agent config.Agent
	index config.Index
	model llm.Generator
	trial bool
}

// plan returns what an agent that can answer works by, or why it cannot.
func (s *Service) plan(ctx context.Context, name string, trial *config.Agent) (plan, error) {
	p := plan{name: name, trial: trial != nil}
	if trial != nil {
		p.agent = *trial
	} else {
		agent, err := config.Get[config.Agent](ctx, s.Config, name)
		if errors.Is(err, db.ErrNotFound) {
			return p, &InvalidError{Reason: AgentUnknown}
		}
		if err != nil {
			return p, err
		}
		if !agent.Enabled {
			return p, &UnusableError{name, "it is not enabled for answers"}
		}
		p.agent = agent
	}
	if p.agent.Index == "" {
		return p, &UnusableError{name, "it has no index to search"}
	}
	index, err := config.Get[config.Index](ctx, s.Config, p.agent.Index)
	if errors.Is(err, db.ErrNotFound) {
		return p, &UnusableError{name, "its index " + p.agent.Index + " does not exist"}
	}
	if err != nil {
		return p, err
	}
	p.index, p.model = index, s.Model
	if m := p.agent.Model; m != "" && m != s.Model.Name() {
		if s.ModelNamed == nil {
			return p, &UnusableError{name, "its model " + m + " cannot be reached: no model's address is set"}
		}
		if p.model, err = s.ModelNamed(m); err != nil {
			return p, &UnusableError{name, "its model " + m + " cannot be used: " + err.Error()}
		}
	}
	return p, nil
}

// Usable reports why an agent cannot answer, nil if it can.
func (s *Service) Usable(ctx context.Context, name string) error {
	_, err := s.plan(ctx, name, nil)
	return err
}

// countTurn refuses a question beyond what an agent may answer on a day of the site's.
func countTurn(ctx context.Context, tx *db.DB, agent string, p plan, now time.Time) error {
	if p.agent.DailyTurns == 0 || p.trial {
		return nil
	}
	n, err := countToday(ctx, tx, agent, now.Format(time.DateOnly))
	if err != nil {
		return err
	}
	if n > p.agent.DailyTurns {
		year, month, day := now.Date()
		return &LimitError{RetryAfter: time.Date(year, month, day+1, 0, 0, 0, 0, now.Location()).Sub(now), Today: true}
	}
	return nil
}

// pagePath is the path of a page as a client names it, "" if it is none. Pages of
// conversations and shared answers are none: their addresses are secrets.
func pagePath(page string) string {
	if !strings.HasPrefix(page, "/") || strings.HasPrefix(page, "//") || len(page) > 2000 || !utf8.ValidString(page) || strings.ContainsRune(page, 0) {
		return ""
	}
	page, _, _ = strings.Cut(page, "?")
	page, _, _ = strings.Cut(page, "#")
	if strings.HasPrefix(page, "/ai-answers/") {
		return ""
	}
	return page
}
