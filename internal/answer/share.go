package answer

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/markdown"
)

// Errors of sharing answers and of reading shared ones.
var (
	// ErrShareOff refuses links to answers of an agent that allows none.
	ErrShareOff = errors.New("answers of this agent are not shared")
	// ErrNothingToShare refuses a link to a turn that cites nothing.
	ErrNothingToShare = errors.New("there is no cited answer to share")
	// ErrShareEnded is a link that held once: its time is over, or the agent shares
	// nothing any more.
	ErrShareEnded = errors.New("this link has ended")
	// ErrShareHidden is an answer from pages of which the account may not see one.
	ErrShareHidden = errors.New("this answer comes from pages that are not for everybody")
	// ErrShareGone is an answer from pages of which one is not published any more.
	ErrShareGone = errors.New("a page that this answer comes from is gone")
)

// A Shared answer is a copy of a turn that whoever knows its token may read, as
// far as they may see the pages that it comes from.
type Shared struct {
	Token          string        `db:"token"`
	TurnID         string        `db:"turn_id"`
	ConversationID string        `db:"conversation_id"`
	AccountID      string        `db:"account_id"`
	Agent          string        `db:"agent"`
	AgentLabel     string        `db:"agent_label"`
	Question       string        `db:"question"`
	Lang           string        `db:"lang"`
	Text           string        `db:"text"` // Markdown with the turn's final numbers
	Copies         SharedSources `db:"sources"`
	Behind         SharedPages   `db:"behind"` // read by the model before it wrote, and not cited
	AnsweredAt     time.Time     `db:"answered_at"`
	CreatedAt      time.Time     `db:"created_at"`
	ExpiresAt      time.Time     `db:"expires_at"`

	Blocks  []markdown.Block `db:"-"`
	Sources []Source         `db:"-"` // those cited, by number
}

// A SharedLink is where an answer is shared, and for how long.
type SharedLink struct {
	Token string
	Until time.Time
}

// A SharedPage is one translation of an entity.
type SharedPage struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Lang string `json:"lang"`
}

func (p SharedPage) ref() content.Ref { return content.Ref{Type: p.Type, ID: p.ID} }

// SharedPages are kept as JSON with their answer.
type SharedPages []SharedPage

// Scan implements [database/sql.Scanner].
func (p *SharedPages) Scan(v any) error { return scanJSON(v, p) }

// Value implements [driver.Valuer].
func (p SharedPages) Value() (driver.Value, error) { return valueJSON([]SharedPage(p)) }

// A SharedSource is a cited source as it was when the answer was written.
type SharedSource struct {
	SharedPage           // whose passages the model read
	Key        string    `json:"key"`
	Shown      string    `json:"shown"` // language of the title
	Title      string    `json:"title"`
	Path       string    `json:"path"`
	Where      string    `json:"where,omitempty"`
	External   string    `json:"external,omitempty"`
	Anchor     string    `json:"anchor,omitempty"`
	Passage    string    `json:"passage,omitempty"`
	Citations  Citations `json:"citations,omitempty"`
}

// SharedSources are kept as JSON with their answer, in the order of their numbers.
type SharedSources []SharedSource

// Scan implements [database/sql.Scanner].
func (s *SharedSources) Scan(v any) error { return scanJSON(v, s) }

// Value implements [driver.Valuer].
func (s SharedSources) Value() (driver.Value, error) { return valueJSON([]SharedSource(s)) }

// page is the translation that a source's passages are from.
func (s Source) page() SharedPage {
	lang := s.FoundLang
	if lang == "" {
		lang = s.Lang
	}
	return SharedPage{s.Ref.Type, s.Ref.ID, lang}
}

// Shares reports whether answers of an agent may be shared.
func (s *Service) Shares(ctx context.Context, agent string) bool {
	a, err := config.Get[config.Agent](ctx, s.Config, agent)
	return err == nil && a.Share
}

// Sharable reports whether a turn is one that a link can be made to: an ended
// answer that cites something. What cites nothing has no page that could say who
// may read it.
func (t Turn) Sharable() bool {
	return (t.Status == Done || t.Status == Stopped) && !t.Refused && t.FinalText != "" && len(t.Cited()) > 0
}

// Share makes a link to a turn; while one holds, it is the link. Errors:
// [ErrNotFound], [*InvalidError], [ErrShareOff], [ErrNothingToShare], and of
// [Service.ReadShared] [ErrShareHidden] and [ErrShareGone].
func (s *Service) Share(ctx context.Context, turnID string, who account.Account) (SharedLink, error) {
	t, err := s.turn(ctx, turnID, who)
	if err != nil {
		return SharedLink{}, err
	}
	conv, err := s.conversation(ctx, t.ConversationID, who)
	if err != nil {
		return SharedLink{}, err
	}
	agent, err := config.Get[config.Agent](ctx, s.Config, conv.Agent)
	if errors.Is(err, db.ErrNotFound) || err == nil && !agent.Share {
		return SharedLink{}, ErrShareOff
	}
	if err != nil {
		return SharedLink{}, err
	}
	if t.Status == Running {
		return SharedLink{}, &InvalidError{Reason: TurnUnfinished}
	}
	if !t.Sharable() {
		return SharedLink{}, ErrNothingToShare
	}
	now := db.Now()
	sh := Shared{Token: newSecret(), TurnID: t.ID, ConversationID: conv.ID, AccountID: conv.AccountID, Agent: conv.Agent, AgentLabel: agent.Label,
		Question: t.Question, Lang: t.Lang, Text: t.FinalText, AnsweredAt: t.CreatedAt, CreatedAt: now, ExpiresAt: now.AddDate(0, 0, agent.ShareDays)}
	for _, src := range t.Cited() {
		sh.Copies = append(sh.Copies, SharedSource{SharedPage: src.page(), Key: src.Key, Shown: src.Lang, Title: src.Title, Path: src.Path, Where: src.Where,
			External: src.External, Anchor: src.Anchor, Passage: src.Passage, Citations: src.Citations})
	}
	if sh.Behind, err = s.behind(ctx, t); err != nil {
		return SharedLink{}, err
	}
	if err := s.checkShared(ctx, sh, who); err != nil {
		return SharedLink{}, err
	}
	return insertShare(ctx, s.DB, sh)
}

// behind are the pages that the model had read for a turn, or for those before
// whose text it saw: whatever it cites, it may have written from them.
func (s *Service) behind(ctx context.Context, t Turn) (SharedPages, error) {
	turns, err := turnsOf(ctx, s.DB, t.ConversationID)
	if err != nil {
		return nil, err
	}
	var read SharedPages
	for _, earlier := range turns {
		for _, src := range earlier.Sources {
			cited := earlier.ID == t.ID && src.Final > 0 // checked as such
			if p := src.page(); earlier.Number <= t.Number && !cited && !slices.Contains(read, p) {
				read = append(read, p)
			}
		}
	}
	return read, nil
}

// Unshare ends the link to a turn, if there is one: also after the conversation
// is gone, for who asked then. Errors: [ErrNotFound].
func (s *Service) Unshare(ctx context.Context, turnID string, who account.Account) error {
	withdrawn, err := deleteShare(ctx, s.DB, turnID, who.ID)
	if err != nil || withdrawn {
		return err
	}
	_, err = s.turn(ctx, turnID, who)
	return err
}

// ReadShared returns a shared answer to whoever knows its token and may see every
// page that it comes from, now. Errors: [ErrNotFound], [ErrShareEnded],
// [ErrShareHidden], [ErrShareGone].
func (s *Service) ReadShared(ctx context.Context, token string, who account.Account) (Shared, error) {
	sh, err := findShare(ctx, s.DB, token)
	if errors.Is(err, db.ErrNotFound) {
		return Shared{}, ErrNotFound
	}
	if err != nil {
		return Shared{}, err
	}
	if !sh.ExpiresAt.After(db.Now()) || !s.Shares(ctx, sh.Agent) {
		return Shared{}, ErrShareEnded
	}
	if err := s.checkShared(ctx, sh, who); err != nil {
		return Shared{}, err
	}
	for i, c := range sh.Copies {
		sh.Sources = append(sh.Sources, Source{Number: i + 1, Final: i + 1, Running: i + 1, Key: c.Key, Ref: c.ref(), Lang: c.Shown, Title: c.Title,
			Path: c.Path, Where: c.Where, External: c.External, Anchor: c.Anchor, Passage: c.Passage, FoundLang: c.Lang, Citations: c.Citations})
	}
	shown := Turn{ID: sh.Token, Lang: sh.Lang, Sources: sh.Sources}
	sh.Blocks, _ = markdown.Render(sh.Text, s.markdownOptions(&shown, nil))
	return sh, nil
}

// checkShared returns nil when an account may see every page that a shared answer
// comes from, in the language it was read in, and else why not.
func (s *Service) checkShared(ctx context.Context, sh Shared, who account.Account) error {
	pages := slices.Clone(sh.Behind)
	for _, c := range sh.Copies {
		pages = append(pages, c.SharedPage)
	}
	visible, err := s.visiblePages(ctx, pages, who)
	if err != nil {
		return err
	}
	for _, p := range pages {
		if visible[p] {
			continue
		}
		there, err := s.Content.Translations(ctx, p.ID)
		if err != nil {
			return fmt.Errorf("page of a shared answer: %w", err)
		}
		if slices.ContainsFunc(there, func(it content.Item) bool { return it.Lang == p.Lang }) {
			return ErrShareHidden
		}
		return ErrShareGone
	}
	return nil
}

// visiblePages are the published pages among those given that an account may see.
func (s *Service) visiblePages(ctx context.Context, pages []SharedPage, who account.Account) (map[SharedPage]bool, error) {
	byLang := map[string][]content.Ref{}
	for _, p := range pages {
		byLang[p.Lang] = append(byLang[p.Lang], p.ref())
	}
	out := map[SharedPage]bool{}
	for lang, refs := range byLang {
		found, err := s.Content.LoadMany(ctx, who, refs, lang)
		if err != nil {
			return nil, fmt.Errorf("pages of a shared answer: %w", err)
		}
		for ref, it := range found {
			if it.Lang == lang && it.Published {
				out[SharedPage{ref.Type, ref.ID, lang}] = true
			}
		}
	}
	return out, nil
}

// Markdown returns the text of an ended turn with the reader's running numbers,
// and the sources that it cites, by these. Errors: [ErrNotFound], [*InvalidError],
// [ErrNothingToShare].
func (s *Service) Markdown(ctx context.Context, turnID string, who account.Account) (string, []Source, error) {
	t, err := s.turn(ctx, turnID, who)
	if err != nil {
		return "", nil, err
	}
	turns, err := turnsOf(ctx, s.DB, t.ConversationID)
	if err != nil {
		return "", nil, err
	}
	i := slices.IndexFunc(turns, func(o Turn) bool { return o.ID == t.ID })
	if i < 0 {
		return "", nil, ErrNotFound
	}
	numbered := s.numberedBy(turns[:i])
	st := s.newest(turns[i], numbered)
	switch {
	case st.IsRunning():
		return "", nil, &InvalidError{Reason: TurnUnfinished}
	case st.Text == "":
		return "", nil, ErrNothingToShare
	}
	sources := st.Cited()
	slices.SortFunc(sources, func(a, b Source) int { return a.Running - b.Running })
	return markdown.RenumberRunning(st.Text, s.markdownOptions(&st.Turn, numbered)), sources, nil
}
