package search

import "testing"

func TestCorrect(t *testing.T) {
	lex := &lexicon{chunks: 1000, frequency: map[string]int{
		"certif": 50, "develop": 300, "lifecycl": 20, "access": 400, "calendar": 30, "museum": 90, "музе": 10, "horari": 12, "cat": 5,
	}}
	for _, c := range []struct{ lang, word, want string }{
		{"en", "certificaton", "certif"},
		{"en", "devloper", "develop"},
		{"en", "lifecyle", "lifecycl"},
		{"en", "acessibility", "access"},
		{"en", "calender", "calendar"},
		{"en", "musuem", "museum"},
		{"en", "certifficatoin", ""}, // further away than a slip
		{"es", "horrario", "horari"},
		{"ru", "музый", "музе"},
		{"en", "cta", ""}, // too short to tell
		{"en", "xqzjwv", ""},
		{"en", "museum2", ""},
	} {
		if got := lex.correct(newAnalyzer(c.lang), c.word); got != c.want {
			t.Errorf("correct(%s, %q) = %q, want %q", c.lang, c.word, got, c.want)
		}
	}
}

func TestDistanceWithin(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		limit int
		want  bool
	}{
		{"abc", "abc", 0, true}, {"abc", "acb", 1, true}, {"abc", "ab", 1, true}, {"abc", "abcd", 1, true},
		{"abc", "xyz", 2, false}, {"", "ab", 2, true}, {"kitten", "sitting", 2, false}, {"kitten", "sitten", 1, true},
	} {
		if got := distanceWithin([]rune(c.a), []rune(c.b), c.limit); got != c.want {
			t.Errorf("distanceWithin(%q, %q, %d) = %v", c.a, c.b, c.limit, got)
		}
	}
}
