package search

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestAnalyze(t *testing.T) {
	for _, c := range []struct{ lang, text, want string }{
		{"en", "The Agencies' websites, and the agency’s site.", "agenc websit agenc site"},
		{"en", "Running RUNS run", "run run run"},
		{"en", "U.S. Digital Corps and the US", "us digit corp us"},
		{"en", "IT staff; does it work? Us or US", "it staff work us"},
		{"en", "login.gov sign-in", "login.gov login gov sign signin"},
		{"en", "memo M-24-08, M‑24‑08", "memo m 24 08 m2408 m 24 08 m2408"},
		{"en", "1,200.50 and v2.0 or 3.5%", "1200.50 v2.0 v2 0 3.5"},
		{"en", "don't won’t", ""},
		{"en", "Café naïve ﬁle ＦＵＬＬ", "cafe naiv file full"},
		{"en-GB", "colours", "colour"},
		{"es", "¿Dónde está la información? informacion INFORMACIONES", "inform inform inform"},
		{"es", "Los niños pequeños", "nin pequen"},
		{"ar", "المكتبات في المدينة", "مكتب مدين"},
		{"ar", "الكِتَابُ كتـــاب", "كتاب كتاب"},
		{"fr", "l’école, qu'un élève aux études", "ecol elev etud"},
		{"de", "Die Straßen und STRASSE der Häuser", "strass strass haus"},
		{"ru", "Ёлки и ёлка", "елк елк"},
		{"ja", "東京タワーの高さ", "東京 京タ タワ ワー ーの の高 高さ"},
		{"zh-CN", "开放时间 9点", "开放 放时 时间 9 点"},
		{"ko", "박물관은 어디", "박물 물관 관은 어디"},
		{"th", "กรุงเทพ", "กร รุ ุง งเ เท ทพ"},
		{"xx", "Unknown tongues remain", "unknown tongues remain"},
		{"en", strings.Repeat("x", 65) + " and word", "word"},
		{"en", "\x00\xff broken \xc3( text", "broken text"},
		{"", "", ""},
	} {
		got := strings.Join(Analyze(c.lang, c.text), " ")
		if got != strings.Join(strings.Fields(c.want), " ") {
			t.Errorf("Analyze(%q, %q) = %q, want %q", c.lang, c.text, got, c.want)
		}
	}
}

// One word must give the same term however it is typed.
func TestAnalyzeAgrees(t *testing.T) {
	for _, c := range []struct{ lang, a, b string }{
		{"es", "reservación", "reservacion"},
		{"pt", "informação", "informacao"},
		{"fr", "réservé", "reserve"},
		{"en", "certification", "Certifications"},
		{"ar", "إعاقة", "اعاقة"},
		{"ja", "ﾀﾜｰ", "タワー"},
	} {
		if a, b := Analyze(c.lang, c.a), Analyze(c.lang, c.b); !slices.Equal(a, b) {
			t.Errorf("%s: %q gives %q, %q gives %q", c.lang, c.a, a, c.b, b)
		}
	}
}

// FuzzAnalyze holds what the index relies on: terms are short and hold nothing
// that separates terms.
func FuzzAnalyze(f *testing.F) {
	f.Add("en", "The U.S. site's e-mail: 1,200 O'Brien's login.gov")
	f.Add("ar", "الكِتَابُ ـــ")
	f.Add("ja", "東京\u0301タワー")
	f.Add("de", "ẞß İi ſ")
	f.Fuzz(func(t *testing.T, lang, text string) {
		for _, term := range Analyze(lang, text) {
			if term == "" || len(term) > 4*maxTokenRunes {
				t.Errorf("term %q of %d bytes", term, len(term))
			}
			if strings.ContainsFunc(term, func(r rune) bool { return unicode.IsSpace(r) || r == 0 || r == '^' || r == '"' }) {
				t.Errorf("term %q", term)
			}
		}
	})
}

func TestGuessLanguage(t *testing.T) {
	for _, c := range []struct{ text, preferred, want string }{
		{"¿Cuánto cuesta la entrada para los niños?", "en", "es"},
		{"How much is a ticket for children?", "es", "en"},
		{"museum tickets", "es", "es"},
		{"أين يقع المتحف و متى يفتح في الصباح", "en", "ar"},
		{"Wie komme ich zu dem Museum?", "en", "de"},
		{"", "fr", "fr"},
	} {
		if got := GuessLanguage(c.text, c.preferred); got != c.want {
			t.Errorf("GuessLanguage(%q, %q) = %q, want %q", c.text, c.preferred, got, c.want)
		}
	}
}
