package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"

	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/eval"
	"docent/internal/llm"
	"docent/internal/search"
)

// evaluate asks the questions of a file as an anonymous visitor and measures what
// is found and answered.
func evaluate(ctx context.Context, env environment, flags *flag.FlagSet, args []string) error {
	file := flags.String("questions", "", "JSON Lines file of questions (docs/evaluation.md)")
	agent := flags.String("agent", config.SiteName, "agent to ask")
	asJSON := flags.Bool("json", false, "print JSON")
	verbose := flags.Bool("v", false, "list what went wrong")
	if _, err := env.parse(flags, args); err != nil {
		return err
	}
	if *file == "" {
		flags.Usage()
		return errors.New("eval needs -questions FILE")
	}
	questions, err := eval.Load(*file)
	if err != nil {
		return err
	}
	a, err := open(ctx, env)
	if err != nil {
		return err
	}
	defer a.db.Close()
	if offline, ok := a.model.(*llm.Offline); ok {
		offline.Pace = 0
	}
	if err := a.search.Warm(ctx); err != nil {
		return err
	}
	answers, err := a.newAnswers(ctx)
	if err != nil {
		return err
	}
	defer answers.Close(ctx)
	visitor, err := a.accounts.Anonymous(ctx)
	if err != nil {
		return err
	}
	e := &evaluation{app: a, answers: answers, visitor: visitor, agent: *agent}
	report, err := eval.Run(ctx, questions, e.find, e.answer)
	if err != nil {
		return err
	}
	if *asJSON {
		enc := json.NewEncoder(env.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(report)
	}
	return report.Print(env.stdout, *verbose)
}

// An evaluation is the site under test.
type evaluation struct {
	*app
	answers *answer.Service
	visitor account.Account
	agent   string
}

// pagesFound is how many passages are asked for, to have ten distinct pages.
const pagesFound = 60

func (e *evaluation) find(ctx context.Context, question, lang string, prev *eval.Turn) ([]eval.RankedPage, error) {
	agent, err := config.Get[config.Agent](ctx, e.config, e.agent)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", e.agent, err)
	}
	index, err := config.Get[config.Index](ctx, e.config, agent.Index)
	if err != nil {
		return nil, fmt.Errorf("index %s: %w", agent.Index, err)
	}
	before := "" // a follow-up makes sense only after its question
	if prev != nil {
		before = prev.Question
	}
	hits, err := e.search.Search(ctx, search.Query{Text: question, Before: before, Index: index, Lang: lang, Who: e.visitor, ForAnswers: true,
		Limit: pagesFound, MinScore: agent.MinScore})
	if err != nil {
		return nil, err
	}
	var pages []eval.RankedPage
	for _, h := range hits {
		if p := (eval.RankedPage{Origin: h.Origin}); !slices.Contains(pages, p) {
			pages = append(pages, p)
		}
	}
	return pages, nil
}

func (e *evaluation) answer(ctx context.Context, question, lang string, prev *eval.Turn) (eval.Answer, error) {
	q := answer.Question{Agent: e.agent, Text: question, Lang: lang, Who: e.visitor}
	if prev != nil {
		q.ConversationID = prev.Answer.Conversation
	}
	st, err := e.answers.Ask(ctx, q)
	if err != nil {
		return eval.Answer{}, err
	}
	if st, err = e.answers.Wait(ctx, st.ID, e.visitor); err != nil {
		return eval.Answer{}, err
	}
	if st.Status != answer.Done {
		return eval.Answer{}, fmt.Errorf("turn %s: %s", st.Status, st.Failure)
	}
	out := eval.Answer{Text: st.FinalText, Refused: st.Refused, Conversation: st.ConversationID}
	var refs []content.Ref
	for _, s := range st.Cited() {
		refs = append(refs, s.Ref)
	}
	items, err := e.content.LoadMany(ctx, e.visitor, refs, lang)
	if err != nil {
		return eval.Answer{}, err
	}
	for _, ref := range refs {
		out.CitedOrigins = append(out.CitedOrigins, items[ref].Origin)
	}
	return out, nil
}
