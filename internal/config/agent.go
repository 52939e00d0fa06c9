package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An Agent is the configuration of one answering agent.
type Agent struct {
	Label           string            `json:"label"`
	Enabled         bool              `json:"enabled"`         // answers visitors' questions
	Model           string            `json:"model,omitempty"` // at the configured server; empty: the site's
	Prompt          string            `json:"prompt"`          // its own system prompt; the citation rules are added to it
	Guidance        string            `json:"guidance,omitempty"`
	Index           string            `json:"index"`                  // forced: never chosen by a request or a model
	MinScore        float64           `json:"min_score"`              // from 0 to 1; hits below are dropped
	MaxResults      int               `json:"max_results"`            // distinct entities shown to the model
	ViewMode        string            `json:"view_mode"`              // how references are rendered
	SourceTools     []string          `json:"source_tools,omitempty"` // listing tools the model may call; what they list can be cited
	TopicDrift      bool              `json:"topic_drift"`            // a follow-up on a new subject is searched before the model writes
	Contexts        []string          `json:"contexts,omitempty"`     // names of [SiteContext] objects
	HistoryTurns    int               `json:"history_turns"`          // earlier turns sent to the model; 0: all
	Rounds          int               `json:"rounds"`                 // model calls in one turn, at most
	Temperature     *float64          `json:"temperature,omitempty"`  // nil: the server's choice
	MaxTokens       int               `json:"max_tokens,omitempty"`   // of one model call; 0: the server's choice
	QuestionLimit   int               `json:"question_limit"`         // characters
	ConversationTTL int               `json:"conversation_ttl"`       // seconds, renewed by every turn
	DailyTurns      int               `json:"daily_turns,omitempty"`  // questions a day of all visitors; 0: no limit
	Feedback        bool              `json:"feedback"`               // visitors may rate answers
	Suggest         string            `json:"suggest,omitempty"`      // where follow-up questions come from: one of the Suggest… constants
	Share           bool              `json:"share"`                  // visitors may share answers by a link
	ShareDays       int               `json:"share_days,omitempty"`   // how long such a link holds
	NoAnswer        map[string]string `json:"no_answer,omitempty"`    // by language; empty: the catalogue's text
}

// Where an agent's suggested follow-up questions come from.
const (
	SuggestNone     = ""
	SuggestHeadings = "headings" // of the pages that the answer was written from
	SuggestModel    = "model"    // a second, short call of the model; headings when it is late or unusable
)

// Kind implements [Object].
func (Agent) Kind() string { return "agent" }

func (a Agent) check(c *check) {
	c.required("label", a.Label, labelLimit)
	c.required("prompt", a.Prompt, promptLimit)
	c.text("guidance", a.Guidance, promptLimit)
	c.line("model", a.Model)
	if !c.exists(Index{}.Kind(), a.Index) {
		c.refuse("index", "must be the name of an index; there is none called %q", a.Index)
	}
	if !(a.MinScore >= 0 && a.MinScore <= 1) {
		c.refuse("min_score", "must be from 0 to 1")
	}
	if a.Temperature != nil && !(*a.Temperature >= 0 && *a.Temperature <= 2) {
		c.refuse("temperature", "must be from 0 to 2")
	}
	if a.ViewMode != "" && !objectName.MatchString(a.ViewMode) {
		c.refuse("view_mode", "must be the name of a view mode, such as teaser")
	}
	for _, name := range a.SourceTools {
		if !objectName.MatchString(name) {
			c.refuse("source_tools", "has %q, which is not the name of a tool", name)
		}
	}
	for _, name := range a.Contexts {
		if !c.exists(SiteContext{}.Kind(), name) {
			c.refuse("contexts", "must be names of site contexts; there is none called %q", name)
		}
	}
	c.within("max_results", a.MaxResults, 1, 50)
	c.within("history_turns", a.HistoryTurns, 0, 100)
	c.within("rounds", a.Rounds, 1, 10)
	c.within("max_tokens", a.MaxTokens, 0, 1_000_000)
	c.within("question_limit", a.QuestionLimit, 1, 20000)
	c.within("conversation_ttl", a.ConversationTTL, 60, 365*24*3600)
	c.within("daily_turns", a.DailyTurns, 0, 10_000_000)
	if !slices.Contains([]string{SuggestNone, SuggestHeadings, SuggestModel}, a.Suggest) {
		c.refuse("suggest", "must be headings, model or empty")
	}
	shortest := 0 // of a link that nobody can make
	if a.Share {
		shortest = 1
	}
	c.within("share_days", a.ShareDays, shortest, 3650)
	c.byLanguage("no_answer", a.NoAnswer)
}

// A SiteContext is what agents that name it are told besides the sources: house
// rules, and facts that no page states. It is not citable.
type SiteContext struct {
	Label  string            `json:"label"`
	Text   map[string]string `json:"text"`            // by language; a visitor's own, else the default's
	Paths  []string          `json:"paths,omitempty"` // pages it is for, with all below them: "/visit/"; empty: everywhere
	Weight int               `json:"weight"`          // order among contexts
}

// Kind implements [Object].
func (SiteContext) Kind() string { return "site_context" }

func (s SiteContext) check(c *check) {
	c.required("label", s.Label, labelLimit)
	c.byLanguage("text", s.Text)
	said := false
	for _, text := range s.Text {
		said = said || strings.TrimSpace(text) != ""
	}
	if !said {
		c.refuse("text", "must say something in at least one language")
	}
	for _, path := range s.Paths {
		c.path("paths", path)
	}
	c.within("weight", s.Weight, -1000, 1000)
}

// For returns the text for a page and a language, "" when the context says
// nothing there. The page "" is one that nobody knows.
func (s SiteContext) For(page, lang, fallback string) string {
	if len(s.Paths) > 0 && !slices.ContainsFunc(s.Paths, func(p string) bool {
		return page != "" && (page == p || strings.HasPrefix(page, strings.TrimSuffix(p, "/")+"/"))
	}) {
		return ""
	}
	if text := strings.TrimSpace(s.Text[lang]); text != "" {
		return text
	}
	return strings.TrimSpace(s.Text[fallback])
}

// AnswerSettings are common to all agents: the object is named "site".
type AnswerSettings struct {
	RetentionDays int               `json:"retention_days"`         // of records of questions; 0: none are kept
	MaskPersonal  bool              `json:"mask_personal"`          // addresses and numbers of persons, before a record is stored
	PerMinute     int               `json:"per_minute"`             // questions of one visitor; 0: no limit
	Currency      string            `json:"currency,omitempty"`     // of prices, such as EUR
	Prices        []ModelPrice      `json:"prices,omitempty"`       // of models; those without one cost nothing
	AILabel       map[string]string `json:"ai_label,omitempty"`     // said beside the question box, by language
	PrivacyNote   map[string]string `json:"privacy_note,omitempty"` // likewise
	Shortcut      bool              `json:"shortcut"`               // Ctrl or Command with K leads to the first Question block
}

// A ModelPrice is what a model's tokens cost, each in millions.
type ModelPrice struct {
	Model  string  `json:"model"`
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// Kind implements [Object].
func (AnswerSettings) Kind() string { return "answer_settings" }

func (s AnswerSettings) check(c *check) {
	c.within("retention_days", s.RetentionDays, 0, 3650)
	c.within("per_minute", s.PerMinute, 0, 100_000)
	c.text("currency", s.Currency, 12)
	seen := map[string]bool{}
	for _, p := range s.Prices {
		c.required("prices", p.Model, labelLimit*2)
		if !(p.Input >= 0 && p.Input <= 1e6 && p.Output >= 0 && p.Output <= 1e6) {
			c.refuse("prices", "of %s must be from 0 to 1000000", p.Model)
		}
		if seen[p.Model] {
			c.refuse("prices", "name %s twice", p.Model)
		}
		seen[p.Model] = true
	}
	c.byLanguage("ai_label", s.AILabel)
	c.byLanguage("privacy_note", s.PrivacyNote)
}

// Cost is the price of a model's tokens in the currency of the settings.
func (s AnswerSettings) Cost(model string, input, output int) float64 {
	for _, p := range s.Prices {
		if p.Model == model {
			return (float64(input)*p.Input + float64(output)*p.Output) / 1e6
		}
	}
	return 0
}

// contextUser names an agent that uses a context, "" when none does.
func (s *snapshot) contextUser(name string) string {
	agents := s.objects[Agent{}.Kind()]
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		if a, ok := agents[agent].value.(Agent); ok && slices.Contains(a.Contexts, name) {
			return fmt.Sprintf("%q", agent)
		}
	}
	return ""
}
