package llm

import (
	"context"
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Offline is a [Generator] that needs no model: it answers by quoting.
//
// Like any model it sees only messages and tools. It reads the sources that
// [FormatSources] wrote into system messages and into the tool results after the
// last question, takes them apart into sentences, list items and table rows, and
// weighs these by the question's words: rare words count more, names and numbers
// most, and the words of headings, of the surrounding section and of the title
// lend their weight to what stands under them. Slips of the pen are matched to
// the sources' words, and a few common English words to others of like meaning.
// What the question asks for (a date, a price, a list, a definition) raises the
// units that hold it. Newer sources are preferred to older ones that fit as well.
//
// The answer is a few quotes in Markdown, each followed by its source's number
// in brackets, [n]. A sentence that leans on the one before brings it along, a
// list its lead-in, a table row its header, and small tables stay whole. A question
// that asks two things gets quotes for both. What one source says is not quoted
// again from another, and quotes that would make the answer long are left out.
// Nothing is rephrased or translated.
//
// When the sources do not cover the weighty words of the question, lack a name or
// number it holds, or hold no date, number or price where one is asked for, the
// answer is empty: a [FinishStop] without text. So it is when the text gives orders
// to a model instead of asking the site. The caller then says in its own words that
// there is no answer.
//
// A follow-up, when a tool called search is offered and was not used since the
// question, first calls that tool; a question that leans on the one before is
// searched together with the words of that one.
type Offline struct {
	// Pace is the pause between pieces of the answer, so that it can be seen to
	// grow. Set it before use; 0 means none.
	Pace time.Duration

	analyze func(lang, text string) []string
	kin     map[string][]string // word -> stems of words of like meaning
	forms   map[string][]string // word -> stems of its irregular forms
	frame   map[string]struct{} // stems of frameWords
	loose   map[string]struct{} // stems of looseWords
}

// NewOffline returns the offline model. Analyze turns text of a language into
// the stems of its words, without stop words; nil means a simple built-in one.
func NewOffline(analyze func(lang, text string) []string) *Offline {
	if analyze == nil {
		analyze = simpleTokens
	}
	o := &Offline{analyze: analyze}
	o.frame, o.loose = o.stemSet(frameWords), o.stemSet(looseWords)
	o.kin, o.forms = o.groups(kin), o.groups(forms)
	return o
}

// groups maps each word of a line to the stems of all words of its lines.
func (o *Offline) groups(lines []string) map[string][]string {
	groups := map[string][]string{}
	for _, line := range lines {
		words := strings.Fields(line)
		var stems []string
		for _, w := range words {
			stems = append(stems, o.analyze("en", w)...)
		}
		for _, w := range words {
			groups[w] = unique(append(groups[w], stems...))
		}
	}
	return groups
}

// stemSet holds the stems of words.
func (o *Offline) stemSet(words map[string]struct{}) map[string]struct{} {
	set := map[string]struct{}{}
	for w := range words {
		for _, lang := range []string{"en", "es"} {
			for _, stem := range o.analyze(lang, w) {
				set[stem] = struct{}{}
			}
		}
	}
	return set
}

// OfflineName is the name of the offline model.
const OfflineName = "offline"

// Name is [OfflineName].
func (o *Offline) Name() string { return OfflineName }

// Generate answers the last user message.
func (o *Offline) Generate(ctx context.Context, r Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		c := readConversation(r.Messages)
		if call := c.search(r.Tools); call != nil {
			if yield(Event{ToolCall: call}, nil) {
				yield(Event{Finish: FinishToolCalls}, nil)
			}
			return
		}
		answer := o.answer(c.question, c.topic, c.sources)
		for i, piece := range pieces(answer) {
			if i > 0 && o.Pace > 0 {
				select {
				case <-ctx.Done():
				case <-time.After(o.Pace):
				}
			}
			if ctx.Err() != nil {
				yield(Event{}, asError(ctx, ctx.Err()))
				return
			}
			if !yield(Event{Text: piece}, nil) {
				return
			}
		}
		yield(Event{Finish: FinishStop}, nil)
	}
}

// conversation is what the messages say about the question to answer.
type conversation struct {
	question string
	topic    string // the earlier question that this one leans on
	followUp bool   // something was asked before
	searched bool   // a tool answered since the question
	sources  []Source
}

func readConversation(messages []Message) conversation {
	var c conversation
	var earlier []string
	for _, m := range messages {
		switch m.Role {
		case RoleSystem:
			c.add(ParseSources(m.Text))
		case RoleUser:
			if c.question != "" {
				earlier = append(earlier, c.question)
				c.followUp = true
			}
			c.question, c.searched = m.Text, false
		case RoleTool:
			c.searched = true
		}
	}
	last := 0
	for i, m := range messages {
		if m.Role == RoleUser {
			last = i
		}
	}
	for _, m := range messages[min(last, len(messages)):] {
		if m.Role == RoleTool {
			c.add(ParseSources(m.Text))
		}
	}
	if c.followUp && leans(c.question) {
		for i := len(earlier) - 1; i >= 0; i-- {
			c.topic = strings.TrimSpace(earlier[i] + " " + c.topic)
			if !leans(earlier[i]) {
				break
			}
		}
	}
	return c
}

// add takes sources over; one told twice is kept in its longer form.
func (c *conversation) add(sources []Source) {
	for _, s := range sources {
		i := slices.IndexFunc(c.sources, func(have Source) bool { return have.Number == s.Number })
		if i < 0 {
			c.sources = append(c.sources, s)
		} else if len(s.Text) > len(c.sources[i].Text) {
			c.sources[i] = s
		}
	}
}

var continues = regexp.MustCompile(`(?i)^\s*¿?\s*(and|but|or|also|what about|how about|y|pero|o|también|qué tal|و)\s`)

// leans tells whether a question cannot stand alone: it continues, points back,
// or is very short.
func leans(question string) bool {
	if continues.MatchString(question) {
		return true
	}
	content := 0
	for _, w := range wordPattern.FindAllString(strings.ToLower(question), -1) {
		if has(pronouns, w) {
			return true
		}
		if !has(stopWords, w) && !has(frameWords, w) {
			content++
		}
	}
	return content < 3
}

// search is the tool call a follow-up starts with, or nil.
func (c conversation) search(tools []ToolSpec) *ToolCall {
	if !c.followUp || c.searched {
		return nil
	}
	for _, t := range tools {
		if t.Name != "search" {
			continue
		}
		query := strings.TrimSpace(c.question + " " + contentWords(c.topic, c.question))
		arguments, err := json.Marshal(map[string]string{queryParameter(t.Parameters): query})
		if err != nil {
			return nil
		}
		return &ToolCall{ID: NewCallID(), Name: t.Name, Arguments: arguments}
	}
	return nil
}

// queryParameter is the name of the tool's text argument.
func queryParameter(schema json.RawMessage) string {
	var s struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(schema, &s) == nil {
		if _, ok := s.Properties["query"]; ok {
			return "query"
		}
		for _, name := range s.Required {
			if s.Properties[name].Type == "string" {
				return name
			}
		}
	}
	return "query"
}

// contentWords are the words of text that carry its subject and are not in
// other.
func contentWords(text, other string) string {
	known := wordSet(strings.ToLower(other))
	var words []string
	for _, w := range wordPattern.FindAllString(text, -1) {
		if lower := strings.ToLower(w); !has(stopWords, lower) && !has(known, lower) {
			known[lower] = struct{}{}
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// pieces cuts an answer into runs of about three words.
func pieces(text string) []string {
	var out []string
	start, words := 0, 0
	for i, r := range text {
		if r != ' ' && r != '\n' && !(r >= 0x2E80 && utf8.RuneLen(r) == 3 && i > start+8) {
			continue
		}
		if words++; words == 3 {
			out = append(out, text[start:i])
			start, words = i, 0
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}
