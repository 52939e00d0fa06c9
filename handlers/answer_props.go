package handlers

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/internal/llm"
	"docent/internal/markdown"
)

// Addresses of the answer routes.
const (
	questionURL      = "/ai-answers/question"
	conversationsURL = "/ai-answers/conversations/"
	turnsURL         = "/ai-answers/turns/"
	answersURL       = "/answers"
	searchURL        = "/search"
)

// An answersBlock is the Answer block that a turn is shown in.
type answersBlock struct {
	ID      string // DOM id
	Lang    string // of the page around it
	Agent   string
	Without string          // parts that it leaves out
	carded  map[string]bool // keys of sources that have a card from earlier turns

	feedback bool // answers may be rated
	share    bool // and shared by a link
	followUp bool // visitors can ask on
	limit    int  // characters of a question

	viewMode string // how entities are shown among the sources; empty: not at all
	reader   account.Account
}

var domID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,99}$`)

// blockFrom is the Answer block that a request names: by its DOM id and the parts
// that it leaves out. They come from the page, so that pages can stay in caches
// and blocks be placed in any content; what an agent does not allow stays off.
func (h *Handlers) blockFrom(c echo.Context, id, without, lang, agent string) answersBlock {
	ctx := c.Request().Context()
	if !domID.MatchString(id) {
		id = config.SiteAnswerID
	}
	b := answersBlock{ID: id, Lang: lang, Agent: agent, limit: h.questionLimit(ctx, agent),
		viewMode: h.viewMode(ctx, agent), reader: h.account(c)}
	b.feedback, b.share, b.followUp = h.Answers.TakesFeedback(ctx, agent), h.Answers.Shares(ctx, agent), true
	var left []string
	for part := range strings.SplitSeq(without, ",") {
		switch part {
		case partFeedback:
			b.feedback = false
		case partFollowUp:
			b.followUp = false
		default:
			continue
		}
		if !slices.Contains(left, part) {
			left = append(left, part)
		}
	}
	b.Without = strings.Join(left, ",")
	return b
}

// blockOf is the Answer block that a request about one of its turns names.
func (h *Handlers) blockOf(c echo.Context, st answer.State) answersBlock {
	return h.blockFrom(c, c.QueryParam("block"), c.QueryParam("without"), h.lang(c), st.Agent)
}

// query is what a request says of the block that its answer is for, as blockFrom
// reads it.
func (b answersBlock) query() url.Values {
	query := url.Values{"block": {b.ID}, "lang": {b.Lang}}
	if b.Without != "" {
		query.Set("without", b.Without)
	}
	return query
}

// questionLimit is how many characters an agent's questions may have.
func (h *Handlers) questionLimit(ctx context.Context, agent string) int {
	a, err := config.Get[config.Agent](ctx, h.Config, agent)
	if err != nil {
		return 0
	}
	return a.QuestionLimit
}

// turnProps maps a turn's state to what is shown of it.
func (h *Handlers) turnProps(ctx context.Context, st answer.State, block answersBlock) components.TurnProps {
	p := components.TurnProps{
		DOMID:        answer.DOMID(st.ID),
		AnswerID:     block.ID,
		Without:      block.Without,
		Conversation: st.ConversationID,
		Question:     st.Question,
		State:        turnState(st),
		SourceCount:  len(st.Sources),
		Offline:      st.Model == llm.OfflineName,
	}
	if st.Lang != block.Lang {
		p.Lang = st.Lang
	}
	for b := range st.Blocks.From(0) {
		p.Blocks = append(p.Blocks, b.HTML)
	}
	for _, s := range st.Sources {
		if s.Final > 0 {
			p.CitedCount++
		}
	}
	if st.IsRunning() {
		query := block.query()
		p.StopURL = turnsURL + st.ID + "/stop?" + query.Encode()
		query.Set("as", "html")
		query.Set("seen", seenIn(st, block).String())
		p.EventsURL = turnsURL + st.ID + "/events?" + query.Encode()
		return p
	}
	p.NewURL = h.wayBack(ctx, block.reader, block.Lang, st)
	switch st.Status {
	case answer.Interrupted, answer.Failed, answer.Stopped:
		p.AskAgain = &components.AskAgainProps{Action: questionURL, Lang: st.Lang, Agent: block.Agent, ConversationID: st.ConversationID, Question: st.Question}
	}
	if st.CutOff {
		p.AskAgain = &components.AskAgainProps{Action: questionURL, Lang: st.Lang, Agent: block.Agent, ConversationID: st.ConversationID,
			Question: goOnQuestion(st.Lang), Label: i18n.T(ctx, "turn.continue")}
	}
	if block.feedback && st.Status != answer.Failed && st.Status != answer.Interrupted {
		f := feedbackProps(ctx, st, block)
		p.Feedback = &f
	}
	if block.share {
		p.Share = h.shareProps(ctx, st, block)
	}
	p.MarkdownURL = turnsURL + st.ID + "/markdown?lang=" + block.Lang
	switch {
	case st.Refused:
		p.Message, p.Blocks = st.FinalText, nil
		p.SearchURL = h.searchFor(st.Question, block.Lang)
		p.ContactURL = h.contactURL(ctx, block.Lang)
		for _, l := range st.Nearest {
			p.Nearest = append(p.Nearest, components.Link{Label: l.Title, URL: l.Path, Where: l.Where})
		}
	case st.Status == answer.Failed:
		p.Message, p.SearchURL = failureText(ctx, st.Failure), h.searchFor(st.Question, block.Lang)
	case st.Status == answer.Interrupted:
		p.SearchURL = h.searchFor(st.Question, block.Lang)
	}
	return p
}

// searchFor is the site's search for a question. The interface's own questions are
// about nothing that pages speak of: for them it is the search alone.
func (h *Handlers) searchFor(question, lang string) string {
	address := h.languagePrefix(lang) + searchURL
	if GoesOn(question) {
		return address
	}
	return address + "?" + url.Values{"q": {question}}.Encode()
}

func turnState(st answer.State) components.TurnState {
	switch st.Status {
	case answer.Running:
		switch st.Phase {
		case answer.Reading:
			return components.TurnReading
		case answer.Writing:
			return components.TurnWriting
		}
		return components.TurnSearching
	case answer.Stopped:
		return components.TurnStopped
	case answer.Interrupted:
		return components.TurnInterrupted
	case answer.Failed:
		return components.TurnFailed
	}
	switch {
	case st.Refused:
		return components.TurnRefused
	case st.CutOff:
		return components.TurnCutOff
	}
	return components.TurnDone
}

// cardsOf is how many cards the list of sources has with this turn's.
func cardsOf(st answer.State, block answersBlock) int {
	cards := len(block.carded)
	for _, s := range st.Sources {
		cards = max(cards, s.Running)
	}
	return cards
}

// newCards are the sources whose cards come after the first have cards, in order.
func newCards(st answer.State, have int) []answer.Source {
	var out []answer.Source
	for _, s := range st.Sources {
		if s.Running > have {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b answer.Source) int { return a.Running - b.Running })
	return out
}

// waitingSources are the sources of a running turn without a card.
func waitingSources(h *Handlers, st answer.State, carded map[string]bool) []components.SourceProps {
	return h.placeholderProps(uncited(st, carded))
}

func (h *Handlers) placeholderProps(waiting []answer.Source) []components.SourceProps {
	out := make([]components.SourceProps, len(waiting))
	for i, s := range waiting {
		out[i] = h.sourceProps(s)
	}
	return out
}

func uncited(st answer.State, carded map[string]bool) []answer.Source {
	var out []answer.Source
	for _, s := range st.Sources {
		if s.Running == 0 && !carded[s.Key] {
			out = append(out, s)
		}
	}
	return out
}

func (h *Handlers) sourceProps(s answer.Source) components.SourceProps {
	p := components.SourceProps{Number: s.Running, Key: s.Key, Title: s.Title, URL: s.Path, Where: s.Where, Lang: s.Lang,
		Passage: passage(s.Passage)}
	p.PassageURL = s.Path
	if s.Anchor != "" {
		p.PassageURL += "#" + url.PathEscape(s.Anchor)
	}
	if len(s.Citations) > 0 && s.Citations[0].Passage != "" {
		c := s.Citations[0]
		p.Passage, p.Mark, p.PassageURL = c.Passage, c.Mark, c.URL
	}
	return p
}

// cardProps are the cards of sources: each with its entity as the block shows it
// and the reader may see it.
func (h *Handlers) cardProps(ctx context.Context, sources []answer.Source, block answersBlock) []components.SourceProps {
	var entities map[inLanguage]shownItem
	if block.viewMode != "" && len(sources) > 0 {
		entities = h.inViewMode(ctx, block.reader, block.viewMode, sources)
	}
	out := make([]components.SourceProps, len(sources))
	for i, s := range sources {
		out[i] = h.sourceProps(s)
		shown := entities[inLanguage{s.Ref, s.Lang}]
		out[i].Summary, out[i].Fields = excerpt(shown.summary, 240), shown.fields()
	}
	return out
}

// excerpt shortens text at a word, to at most limit characters, on one line.
func excerpt(text string, limit int) string {
	return shorten(strings.Join(strings.Fields(text), " "), limit)
}

// passage is a source's passage as people read it: its lines stay apart, so that
// rows of a table and items of a list can be told from each other.
func passage(source string) string {
	var lines []string
	for line := range strings.SplitSeq(markdown.PlainText(source), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return shorten(strings.Join(lines, "\n"), 320)
}

func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	cut := string(runes[:limit])
	if i := strings.LastIndexAny(cut, " \n"); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " \n,;:.|") + "…"
}

// A shownConversation is what the blocks of a page show of a conversation.
type shownConversation struct {
	turns          []components.TurnProps
	cited, waiting []components.SourceProps
	running        bool
	followUp       components.FollowUpProps
}

// shown renders the turns of a conversation for an Answer block.
func (h *Handlers) shown(ctx context.Context, states []answer.State, block answersBlock) shownConversation {
	var c shownConversation
	block.carded = map[string]bool{}
	for _, st := range states {
		c.turns = append(c.turns, h.turnProps(ctx, st, block))
		c.cited = append(c.cited, h.cardProps(ctx, newCards(st, len(c.cited)), block)...)
		c.running = st.IsRunning()
		if c.running {
			c.waiting = waitingSources(h, st, block.carded)
		}
		c.followUp = h.followUpProps(st, block)
		for _, s := range st.Sources {
			if s.Running > 0 {
				block.carded[s.Key] = true
			}
		}
	}
	return c
}

// followUpProps is the form below a turn: none while it runs, or where the block
// has none.
func (h *Handlers) followUpProps(st answer.State, block answersBlock) components.FollowUpProps {
	if st.IsRunning() || !block.followUp {
		return components.FollowUpProps{AnswerID: block.ID}
	}
	return components.FollowUpProps{AnswerID: block.ID, Action: questionURL, Agent: block.Agent, ConversationID: st.ConversationID, Lang: block.Lang, Limit: block.limit,
		Without: block.Without, Suggestions: st.Suggestions}
}

// contactURL is where a visitor finds a person to ask, "" if the site names none.
func (h *Handlers) contactURL(ctx context.Context, lang string) string {
	site, err := config.Get[config.Settings](ctx, h.Config, config.SiteName)
	if err != nil || site.ContactPath == "" {
		return ""
	}
	return h.languagePrefix(lang) + site.ContactPath
}
