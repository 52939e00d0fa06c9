// Package eval measures finding and answers against a file of questions with
// known pages and facts.
package eval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"regexp"
	"strings"
)

// A Question is one line of a question file.
type Question struct {
	ID          string    `json:"id"`
	Question    string    `json:"question"`
	Gold        []string  `json:"gold"`         // pages that hold the answer, as an importer names them
	AnswerFacts []string  `json:"answer_facts"` // RE2, matched without regard to case
	Kind        string    `json:"kind"`
	Answerable  bool      `json:"answerable"`
	Lang        string    `json:"lang"`
	FollowUp    *FollowUp `json:"follow_up"`

	facts []*regexp.Regexp
}

// A FollowUp is a second question that makes sense after the first.
type FollowUp struct {
	Question    string   `json:"question"`
	Gold        []string `json:"gold"`
	AnswerFacts []string `json:"answer_facts"`

	facts []*regexp.Regexp
}

// Load reads a question file: JSON Lines, one question a line, blank lines
// allowed. Errors name the line.
func Load(path string) ([]Question, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	qs, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return qs, nil
}

func read(r io.Reader) ([]Question, error) {
	var out []Question
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if strings.TrimSpace(line) != "" {
			q, parseErr := parse(line)
			if parseErr != nil {
				return nil, fmt.Errorf("line %d: %w", n, parseErr)
			}
			out = append(out, q)
		}
		if err != nil {
			break
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no questions")
	}
	return out, nil
}

func parse(line string) (Question, error) {
	var q Question
	if err := json.Unmarshal([]byte(line), &q); err != nil {
		return q, err
	}
	switch {
	case strings.TrimSpace(q.Question) == "":
		return q, errors.New("question is empty")
	case q.Answerable && len(q.Gold) == 0:
		return q, errors.New("answerable, but gold is empty")
	}
	var err error
	if q.facts, err = compile(q.AnswerFacts); err != nil {
		return q, err
	}
	if q.FollowUp != nil {
		if q.FollowUp.facts, err = compile(q.FollowUp.AnswerFacts); err != nil {
			return q, fmt.Errorf("follow_up: %w", err)
		}
	}
	return q, nil
}

func compile(facts []string) ([]*regexp.Regexp, error) {
	out := make([]*regexp.Regexp, len(facts))
	for i, f := range facts {
		re, err := regexp.Compile("(?i)" + f)
		if err != nil {
			return nil, fmt.Errorf("answer_facts: %w", err)
		}
		out[i] = re
	}
	return out, nil
}

var emphasis = strings.NewReplacer("**", "", "__", "", "*", "", "`", "", "~~", "")

// plainAnswer is an answer as facts are looked for in it: entities decoded, marks
// of emphasis removed, white space collapsed.
func plainAnswer(text string) string {
	text = html.UnescapeString(text)
	text = emphasis.Replace(text)
	return strings.Join(strings.Fields(text), " ")
}

// holdsAll reports whether an answer states every fact.
func holdsAll(answer string, facts []*regexp.Regexp) bool {
	text := plainAnswer(answer)
	for _, f := range facts {
		if !f.MatchString(text) {
			return false
		}
	}
	return true
}
