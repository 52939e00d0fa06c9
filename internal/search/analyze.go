package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxTokenRunes bounds a token: longer runs are encoded data, not words.
const maxTokenRunes = 64

// Analyze turns plain text into the tokens that are indexed and searched for:
// compatibility forms unified, case and diacritics folded, split into words,
// stop words dropped and the rest stemmed by the rules of lang, a BCP 47 tag.
// Scripts without spaces become overlapping pairs of characters. Markup must
// have been taken off.
func Analyze(lang, text string) []string { return newAnalyzer(lang).tokens(text) }

// An analyzer analyses text in one language. It remembers the words it has seen,
// so one analyzer serves a batch and no two goroutines share one.
type analyzer struct {
	lang  string
	stop  map[string]bool
	stem  stemmer
	fold  cases.Caser
	known map[string]string // folded word -> token; "" for a stop word
	out   []string

	trace     bool     // keep the two below
	words     []string // the folded word behind each token
	compounds []int    // tokens that are compounds of their neighbours
}

// push adds a token and, when they are asked for, the word it stands for.
func (a *analyzer) push(token, word string) {
	a.out = append(a.out, token)
	if a.trace {
		a.words = append(a.words, a.folded(word))
	}
}

func newAnalyzer(lang string) *analyzer {
	base := baseLang(lang)
	return &analyzer{
		lang:  base,
		stop:  stopWords(base),
		stem:  newStemmer(base),
		fold:  cases.Fold(),
		known: map[string]string{},
	}
}

// baseLang is the language of a tag: "zh" of "zh-CN".
func baseLang(tag string) string {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return base
}

// tokens analyses text. The result is the caller's.
func (a *analyzer) tokens(text string) []string {
	a.out, a.words, a.compounds = make([]string, 0, len(text)/8), nil, a.compounds[:0]
	if !norm.NFKC.IsNormalString(text) {
		text = norm.NFKC.String(text)
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isUnspaced(r):
			end := runEnd(text, i, isUnspaced)
			a.emitPairs(text[i:end])
			i = end
		case isWordRune(r):
			end := wordEnd(text, i)
			a.emitWord(text[i:end])
			i = end
		default:
			i += size
		}
	}
	return a.out
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// isUnspaced reports whether r belongs to a script that writes words without
// spaces between them, or with endings glued to them (Hangul).
func isUnspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

func runEnd(text string, i int, in func(rune) bool) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !in(r) {
			break
		}
		i += size
	}
	return i
}

// wordEnd is where the word that starts at i ends: letters, digits and marks,
// and the signs that hold one together when they stand between two of those.
func wordEnd(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isUnspaced(r):
			return i
		case isWordRune(r):
		case isJoiner(r):
			next, _ := utf8.DecodeRuneInString(text[i+size:])
			if !isWordRune(next) || isUnspaced(next) {
				return i
			}
		default:
			return i
		}
		i += size
	}
	return i
}

func isJoiner(r rune) bool {
	switch r {
	case '\'', '’', '.', ',', '-', '‐', '‑', '_':
		return true
	}
	return false
}

// emitPairs adds the overlapping pairs of a run of unspaced script.
func (a *analyzer) emitPairs(run string) {
	prev := -1
	for i, r := range run {
		if prev >= 0 {
			a.push(run[prev:i+utf8.RuneLen(r)], run[prev:i+utf8.RuneLen(r)])
		}
		prev = i
	}
	if prev == 0 {
		a.push(run, run)
	}
}

// emitWord adds the tokens of a word as [wordEnd] cut it: its parts at hyphens,
// commas and underscores, and what the whole says beyond its parts.
func (a *analyzer) emitWord(word string) {
	if strings.IndexFunc(word, isJoiner) < 0 {
		a.emitSimple(word)
		return
	}
	if isNumber(word) {
		a.emitToken(strings.ReplaceAll(word, ",", ""))
		return
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return isJoiner(r) && r != '.' && r != '\'' && r != '’' })
	for _, p := range parts {
		a.emitDotted(p)
	}
	if len(parts) >= 2 && len(parts) <= 4 && !strings.ContainsAny(word, ",.") {
		before := len(a.out)
		a.emitSimple(strings.Join(parts, "")) // "e-mail", "M-24-08"
		if len(a.out) > before {
			a.compounds = append(a.compounds, before)
		}
	}
}

// isNumber reports whether a word is digits with points and commas among them.
func isNumber(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return r != '.' && r != ',' && !unicode.IsDigit(r) }) < 0
}

// emitDotted adds a word that may hold points and apostrophes.
func (a *analyzer) emitDotted(word string) {
	if !strings.Contains(word, ".") {
		a.emitApostrophe(word)
		return
	}
	if isNumber(word) {
		a.emitToken(word)
		return
	}
	parts := strings.Split(word, ".")
	letters := true
	for _, p := range parts {
		letters = letters && utf8.RuneCountInString(p) == 1
	}
	if letters { // an abbreviation: "U.S."
		a.emitToken(a.folded(strings.Join(parts, "")))
		return
	}
	a.compounds = append(a.compounds, len(a.out))
	a.emitToken(a.folded(word)) // a name: "login.gov"
	for _, p := range parts {
		a.emitApostrophe(p)
	}
}

// emitApostrophe adds a word without its possessive ending or elided article.
func (a *analyzer) emitApostrophe(word string) {
	i := strings.IndexAny(word, "'’")
	if i < 0 {
		a.emitSimple(word)
		return
	}
	_, size := utf8.DecodeRuneInString(word[i:])
	before, after := word[:i], word[i+size:]
	switch {
	case strings.EqualFold(after, "s"):
		a.emitSimple(before)
	case elides(a.lang) && utf8.RuneCountInString(before) <= 2, elides(a.lang) && strings.EqualFold(before, "qu"):
		a.emitApostrophe(after)
	default:
		a.emitSimple(strings.NewReplacer("'", "", "’", "").Replace(word))
	}
}

func elides(lang string) bool { return lang == "fr" || lang == "it" || lang == "ca" }

// emitSimple adds one word of letters, digits and marks.
func (a *analyzer) emitSimple(word string) {
	token, ok := a.known[word]
	if !ok {
		token = a.token(word)
		a.known[strings.Clone(word)] = token
	}
	if token != "" {
		a.push(token, word)
	}
}

func (a *analyzer) token(word string) string {
	f := a.folded(word)
	if utf8.RuneCountInString(f) > maxTokenRunes {
		return ""
	}
	if a.stop[f] && !isInitialism(word) {
		return ""
	}
	if strings.ContainsFunc(f, unicode.IsDigit) {
		return f
	}
	return a.stem(f)
}

// emitToken adds a token that is not stemmed.
func (a *analyzer) emitToken(token string) {
	if token != "" && utf8.RuneCountInString(token) <= maxTokenRunes {
		a.push(token, token)
	}
}

// isInitialism tells "IT" and "US" from "it" and "us".
func isInitialism(word string) bool {
	if len(word) < 2 || len(word) > 5 {
		return false
	}
	for i := range len(word) {
		if word[i] < 'A' || word[i] > 'Z' {
			return false
		}
	}
	return true
}

// folded is a word without case and without diacritics where the script uses
// them as accents.
func (a *analyzer) folded(word string) string {
	ascii, lower := true, true
	for i := range len(word) {
		c := word[i]
		ascii = ascii && c < utf8.RuneSelf
		lower = lower && !('A' <= c && c <= 'Z')
	}
	if ascii {
		if lower {
			return word
		}
		return strings.ToLower(word)
	}
	decomposed := norm.NFD.String(a.fold.String(word))
	var b strings.Builder
	b.Grow(len(decomposed))
	strip := false
	for _, r := range decomposed {
		switch {
		case unicode.Is(unicode.Mn, r):
			if strip {
				continue
			}
		case r == 'ـ': // the Arabic stretching sign
			continue
		default:
			strip = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Arabic, unicode.Hebrew)
		}
		switch r {
		case 'ى':
			r = 'ي'
		case 'ı':
			r = 'i'
		case 'ø':
			r = 'o'
		case 'ł':
			r = 'l'
		}
		b.WriteRune(r)
	}
	s := norm.NFC.String(b.String())
	if a.lang == "ru" {
		s = strings.ReplaceAll(s, "ё", "е")
	}
	return s
}
