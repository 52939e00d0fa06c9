package handlers

import (
	"fmt"

	"github.com/a-h/templ"

	"docent/components"
	"docent/internal/markdown"
	"docent/views"
)

// blocks renders Markdown as that of a model, every source of the samples known.
func (s samples) blocks(turn, text string) []string {
	rendered, _ := markdown.Render(text, markdown.Options{
		Source: func(n int) (string, bool) {
			if n < 1 || n > len(s.sources) {
				return "", false
			}
			return s.sources[n-1].title, true
		},
		CiteLabel: func(n int) string { return s.t("sources.cite", n) },
		Labels:    markdown.Labels{Table: s.t("answer.table"), Copy: s.t("action.copy")},
		BlockID:   func(i int) string { return fmt.Sprintf("%s-b%d", turn, i) },
	})
	blocks := make([]string, len(rendered))
	for i, b := range rendered {
		blocks[i] = b.HTML
	}
	return blocks
}

// source is one of the samples' sources under a number; 0: it is not cited yet.
func (s samples) source(i, number int) components.SourceProps {
	w := s.sources[i]
	p := components.SourceProps{Number: number, Key: w.title, Title: w.title, Where: w.where, Lang: w.lang, URL: styleguideURL, Passage: w.passage, PassageURL: styleguideURL}
	p.Mark = [2]int{0, len(w.passage)}
	return p
}

func (s samples) turn(id string, state components.TurnState) components.TurnProps {
	return components.TurnProps{DOMID: "turn-" + id, AnswerID: "answer-" + id, Conversation: "sample", Question: s.short, State: state, NewURL: styleguideURL}
}

// block is an Answer block that holds a turn.
func (s samples) block(id string, turns ...components.TurnProps) components.AnswerProps {
	p := components.AnswerProps{
		ID: "answer-" + id, Action: styleguideURL, Lang: s.lang, Label: s.t("answers.title") + ": " + id, Limit: 500,
		Empty: s.t("answers.empty"), Turns: turns,
	}
	p.FollowUp = components.FollowUpProps{AnswerID: p.ID}
	return p
}

func (s samples) answers() []views.StyleSample {
	empty := s.block("empty")
	empty.Suggestions = s.suggestions
	closed := s.block("closed")
	closed.Closed = s.t("ask.closed")

	searching := s.turn("searching", components.TurnSearching)
	searching.StopURL = styleguideURL
	reading := s.turn("reading", components.TurnReading)
	reading.SourceCount, reading.StopURL = 5, styleguideURL
	writing := s.turn("writing", components.TurnWriting)
	writing.SourceCount, writing.StopURL, writing.Question = 5, styleguideURL, s.long
	writing.Blocks = s.blocks(writing.DOMID, s.text)

	done := s.turn("done", components.TurnDone)
	done.SourceCount, done.CitedCount, done.Question = 5, len(s.sources), s.long
	done.Blocks, done.MarkdownURL = s.blocks(done.DOMID, s.text), styleguideURL
	feedback := s.feedback("done", "")
	done.Feedback = &feedback
	done.Share = &components.ShareProps{ID: done.DOMID + "-share", Action: styleguideURL}
	doneBlock := s.block("done", done)
	doneBlock.FollowUp = components.FollowUpProps{AnswerID: "answer-done", Action: styleguideURL, ConversationID: "sample", Suggestions: s.suggestions, Lang: s.lang, Limit: 500}
	var cited []components.SourceProps
	for i := range s.sources {
		cited = append(cited, s.source(i, i+1))
	}

	shared := s.whole("shared")
	shared.Share = &components.ShareProps{ID: shared.DOMID + "-share", Action: styleguideURL, URL: "https://garden.example/ai-answers/shared/5f0c1d7e2b9a4c38", Until: s.day}
	own := s.whole("own")
	ownBlock := s.block("own", own)
	ownBlock.Sources = &components.SourceListProps{ID: "answer-own-references", AnswerID: "answer-own", Title: s.t("sources.title") + ": own", Cited: cited[:2]}
	narrow := s.whole("narrow")
	narrowFeedback := s.feedback("turn-narrow", "")
	narrow.Feedback, narrow.MarkdownURL = &narrowFeedback, styleguideURL
	narrowBlock := s.block("narrow", narrow)
	narrowBlock.Sources = &components.SourceListProps{ID: "answer-narrow-references", AnswerID: "answer-narrow", Title: s.t("sources.title") + ": narrow", Cited: cited[:2]}
	first, second := s.whole("first"), s.whole("second")
	second.AnswerID, second.Question = first.AnswerID, s.suggestions[0]
	offline := s.whole("offline")
	offline.Offline = true
	uncited := s.whole("uncited")
	uncited.CitedCount = 0

	return []views.StyleSample{
		sample("empty", "Before the first question", views.StyleText, components.Answer(empty)),
		sample("recent", "Recent questions, below that", views.StyleText, s.recent("recent")),
		sample("recent-narrow", "Recent questions in a narrow place", views.StyleNarrow, s.recent("recent-narrow")),
		sample("closed", "Closed", views.StyleText, components.Answer(closed)),
		sample("searching", "Searching", views.StyleText, components.Answer(s.block("searching", searching))),
		sample("reading", "Reading five sources", views.StyleText, components.Answer(s.block("reading", reading))),
		sample("writing", "Writing", views.StyleText, components.Answer(s.block("writing", writing))),
		sample("done", "Whole, its sources beside it", views.StyleWide,
			views.StyleColumns(components.Answer(doneBlock), s.sourceList("done", "done", cited, nil, false))),
		sample("japanese", "Japanese", views.StyleText, components.Answer(s.block("japanese", s.japanese("japanese")))),
		sample("japanese-narrow", "Japanese in a narrow place", views.StyleNarrow, components.Answer(s.block("japanese-narrow", s.japanese("japanese-narrow")))),
		sample("own", "A block with its own sources", views.StyleWide, components.Answer(ownBlock)),
		sample("narrow", "The same in a narrow place", views.StyleNarrow, components.Answer(narrowBlock)),
		sample("turns", "Two turns", views.StyleText, components.Answer(s.block("first", first, second))),
		sample("offline", "Written by the offline model", views.StyleText, components.Answer(s.block("offline", offline))),
		sample("uncited", "Without a source", views.StyleText, components.Answer(s.block("uncited", uncited))),
		sample("shared", "Shared by a link", views.StyleText, components.Answer(s.block("shared", shared))),
	}
}

// whole is a whole turn with a short answer.
func (s samples) whole(id string) components.TurnProps {
	p := s.turn(id, components.TurnDone)
	p.Blocks, p.CitedCount = s.blocks(p.DOMID, s.brief), 1
	return p
}

func (s samples) ends() []views.StyleSample {
	again := &components.AskAgainProps{Action: styleguideURL, Lang: s.lang, ConversationID: "sample", Question: s.short}
	carryOn := *again
	carryOn.Label = s.t("turn.continue")

	stopped := s.whole("stopped")
	stopped.State, stopped.AskAgain = components.TurnStopped, again
	nothing := s.turn("nothing", components.TurnStopped)
	nothing.AskAgain = again
	cutOff := s.whole("cutoff")
	cutOff.State, cutOff.AskAgain = components.TurnCutOff, &carryOn
	interrupted := s.whole("interrupted")
	interrupted.State, interrupted.AskAgain = components.TurnInterrupted, again
	failed := s.turn("failed", components.TurnFailed)
	failed.AskAgain, failed.SearchURL = again, searchURL
	refused := s.turn("refused", components.TurnRefused)
	refused.SearchURL, refused.ContactURL = searchURL, styleguideURL
	for _, source := range s.sources[:3] {
		refused.Nearest = append(refused.Nearest, components.Link{Label: source.title, URL: styleguideURL, Where: source.where})
	}
	refusedFeedback := s.feedback("turn-refused", "")
	refused.Feedback = &refusedFeedback
	waiting := s.whole("reconnecting")
	waiting.State, waiting.SourceCount, waiting.StopURL = components.TurnWriting, 5, styleguideURL
	lost := s.whole("lost")
	lost.State, lost.SourceCount, lost.StopURL = components.TurnWriting, 5, styleguideURL

	connection := templ.Attributes{"data-docent-connection": true}

	one := func(id, title string, p components.TurnProps, more ...templ.Component) views.StyleSample {
		parts := append([]templ.Component{components.Answer(s.block(id, p))}, more...)
		return sample(id, title, views.StyleText, parts...)
	}
	return []views.StyleSample{
		one("stopped", "Stopped", stopped),
		one("nothing", "Stopped before the first word", nothing),
		one("cutoff", "Cut off", cutOff),
		one("interrupted", "Interrupted", interrupted),
		one("failed", "Failed", failed),
		one("refused", "The pages do not say", refused),
		one("reconnecting", "Connecting again", waiting, views.StyleNotice(s.t("script.reconnecting"), connection)),
		one("lost", "The connection is lost", lost, views.StyleNotice(s.t("script.lost"), connection)),
		sample("stop", "It could not be stopped", views.StyleText, s.notStopped()),
		sample("unshared", "The link could not be made", views.StyleText, s.notShared()),
	}
}
