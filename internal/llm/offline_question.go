package llm

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// term is one word of a question under the forms it is looked for.
type term struct {
	word    string
	stems   []string       // normally one; a compound like M-24-08 gives several
	forms   []string       // its stems in the languages of the sources
	named   bool           // a name, a number or a code
	known   bool           // the sources hold it or something like it
	akin    bool           // the sources hold a word of like meaning
	literal *regexp.Regexp // how a code such as 3.0, M-24-08 or .us must stand in a text; nil for words
	frame   bool           // tells the kind of answer
	loose   bool           // other words may well say the same
	topic   bool           // taken from an earlier question
	weight  float64        // for ranking
	claim   float64        // for telling whether a source answers at all
}

// maxTerms bounds the work for a question; more words than that are a letter.
const maxTerms = 60

// question is a visitor's question taken apart.
type question struct {
	text  string
	lang  string
	cue   cue
	terms []term
	heads []string // fingerprints of headings that it may name: itself, and what it puts in quotes
}

var quotedPart = regexp.MustCompile(`[“«"„]([^“”«»"„]{2,120})[”»"“]`)

// headsOf returns the fingerprints of the headings that a question may name.
func headsOf(text string) []string {
	heads := []string{fingerprint(text)}
	for _, m := range quotedPart.FindAllStringSubmatch(text, 4) {
		heads = append(heads, fingerprint(m[1]))
	}
	return heads
}

// names tells whether a question names the heading right above a unit.
func (q question) names(u unit) bool {
	return len(u.path) > 0 && slices.Contains(q.heads, fingerprint(u.path[len(u.path)-1]))
}

var wordPattern = regexp.MustCompile(`[\p{L}\p{M}\p{N}]+(?:[-.’'_/@&][\p{L}\p{M}\p{N}]+)*|\.[\p{L}]{2,6}\b`)

// readQuestion takes text apart. Words of topic that text lacks follow with less
// weight. The words are also analyzed in the languages of the sources, so that a
// wrong guess at the question's language does little harm.
func (o *Offline) readQuestion(text, topic string, langs []string) question {
	q := question{text: text, lang: languageOf(text), cue: cueOf(text), heads: headsOf(text)}
	seen := map[string]bool{}
	add := func(from string, isTopic bool) {
		shouting := from == strings.ToUpper(from)
		var last term
		lastEnd := -1
		for i, at := range wordPattern.FindAllStringIndex(from, -1) {
			word := from[at[0]:at[1]]
			lower := strings.TrimSuffix(strings.ToLower(strings.ReplaceAll(word, "’", "'")), "'s")
			if has(stopWords, strings.ReplaceAll(lower, "'", "")) || seen[lower] {
				continue
			}
			seen[lower] = true
			t := term{word: lower, stems: o.analyze(q.lang, lower), topic: isTopic, literal: literalPattern(lower),
				named: isNamed(word, i == 0 || opens(from[:at[0]]), shouting)}
			for _, lang := range langs {
				t.forms = append(t.forms, o.analyze(lang, lower)...)
			}
			t.frame, t.loose = within(o.frame, t.stems), within(o.loose, t.stems)
			if len(t.stems) == 0 || len(t.forms) == 0 {
				continue
			}
			if last.named && lastEnd+1 == at[0] && isNumber(lower) {
				t.literal = literalPattern(last.word + " " + lower) // WCAG 3.0 is another thing than 3.0
			}
			last, lastEnd = t, at[1]
			q.terms = append(q.terms, t.parts()...)
		}
	}
	add(text, false)
	add(topic, true)
	q.terms = q.terms[:min(len(q.terms), maxTerms)]
	return q
}

// parts splits a run of a script without spaces into a term for each stem.
func (t term) parts() []term {
	if len(t.stems) < 2 || t.literal != nil || strings.ContainsAny(t.word, "-'&") {
		return []term{t}
	}
	var out []term
	for _, stem := range t.stems {
		out = append(out, term{word: stem, stems: []string{stem}, forms: []string{stem}, topic: t.topic})
	}
	return out
}

// within tells whether set holds all of stems.
func within(set map[string]struct{}, stems []string) bool {
	return !slices.ContainsFunc(stems, func(stem string) bool { return !has(set, stem) })
}

// isNamed tells names, codes and numbers from other words. A capital at the
// start of a sentence says nothing.
func isNamed(word string, first, shouting bool) bool {
	if strings.ContainsFunc(word, unicode.IsDigit) {
		return !measure.MatchString(word)
	}
	if shouting {
		return false
	}
	upper := 0
	for _, r := range word {
		if unicode.IsUpper(r) {
			upper++
		}
	}
	return upper >= 2 || upper == 1 && !first || strings.HasPrefix(word, ".") ||
		strings.Contains(strings.Trim(word, "."), ".")
}

// literalPattern matches a code as it is written, or is nil when word is not one.
// Analysis takes codes apart, and their parts match too much.
func literalPattern(word string) *regexp.Regexp {
	if measure.MatchString(word) || !strings.ContainsAny(word, "._/@ ") && !(strings.Contains(word, "-") && strings.ContainsFunc(word, unicode.IsDigit)) {
		return nil
	}
	// Joints may be written otherwise: M-24-08, M‑24‑08, M 24 08.
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '-' || r == ' ' })
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile(`(?i)(?:^|[^\pL\pN])` + strings.Join(parts, `[-‐‑–— ]`) + `(?:$|[^\pL\pN])`)
}

// measure matches words such as 15-year-old, which no text need hold as they are.
var measure = regexp.MustCompile(`^[0-9]+-\pL`)

func isNumber(word string) bool {
	return strings.Trim(word, "0123456789.") == ""
}

func opens(before string) bool {
	before = strings.TrimRight(before, " \t\n\"'“‘(¿¡")
	return before == "" || strings.ContainsRune(".!?:;", rune(before[len(before)-1]))
}

var spanishSign = regexp.MustCompile(`(?i)[¿¡ñ]|\b(el|los|las|una|del|qué|cómo|cuándo|cuál|cuáles|dónde|quién|está|para|por|con|es|puedo|desde|todas?)\b`)

// orders matches text that gives the model orders instead of asking the site.
var orders = regexp.MustCompile(`(?i)\b(ignore|disregard|forget|override|bypass)\b.{0,40}\b(instructions?|rules|prompts?|guidelines)\b` +
	`|\b(print|show|reveal|repeat|output)\b.{0,20}\b(your|the) (system )?(prompt|instructions)\b|\byou have no (rules|limits|restrictions)\b` +
	`|^\W*(please )?pretend\b|\b(ignora|olvida|omite)\b.{0,40}\b(instrucciones|reglas)\b|^\W*(finge|imagina)\b|تجاهل.{0,40}(التعليمات|تعليمات)|['"]\s*;.*--`)

// languageOf guesses the language of a question: ar, es or en.
func languageOf(text string) string {
	for _, r := range text {
		if unicode.Is(unicode.Arabic, r) {
			return "ar"
		}
	}
	if len(spanishSign.FindAllString(text, 3)) >= 2 {
		return "es"
	}
	return "en"
}

// simpleTokens is the analysis used when no analyzer is given: lower case words
// with the commonest English endings cut off.
func simpleTokens(_, text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		if has(stopWords, w) {
			continue
		}
		for _, end := range []string{"ations", "ation", "ings", "ing", "ies", "ers", "er", "es", "ed", "ly", "s", "y", "e"} {
			if stem, ok := strings.CutSuffix(w, end); ok && utf8.RuneCountInString(stem) >= 4 {
				w = stem
				break
			}
		}
		out = append(out, w)
	}
	return out
}
