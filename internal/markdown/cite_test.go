package markdown

import (
	"reflect"
	"strings"
	"testing"
)

func TestContractExamplesAreMarkers(t *testing.T) {
	contract := CiteContract()
	for _, e := range contractExamples {
		if !strings.Contains(contract, e.text) {
			t.Errorf("the contract lacks %q", e.text)
		}
		var asked []int
		_, _ = Render(e.text, Options{Source: func(n int) (string, bool) {
			asked = append(asked, n)
			return Marker(n), true
		}})
		if !reflect.DeepEqual(asked, e.cites) {
			t.Errorf("%q cites %v, want %v", e.text, asked, e.cites)
		}
	}
	for _, marker := range strings.FieldsFunc(contract, func(r rune) bool { return !strings.ContainsRune("[]0123456789", r) }) {
		if _, n := scanMarker([]byte(marker)); n == 0 {
			t.Errorf("%q in the contract is no marker", marker)
		}
	}
}

func TestRunningNumbersContinue(t *testing.T) {
	o := testOptions()
	o.Numbered = []string{"k7", "k2"}
	s := replay(t, o, strings.Split("Old [2], new [9][4], again [9], first [7].", ""), nil)
	if got, want := plainBlocks(joinedBlocks(s.Render(true))), sups("<p>Old {2}, new {3}{4}, again {3}, first {1}.</p>"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := s.Cited(); !reflect.DeepEqual(got, []string{"k2", "k9", "k4", "k7"}) {
		t.Errorf("cited %v", got)
	}
}

// The number a marker gets while the block grows is the one it keeps.
func TestNumbersDoNotChangeWhileGrowing(t *testing.T) {
	ids := func(n int) (string, bool) { return map[int]string{1: "d7", 2: "d2", 3: "d9"}[n], n >= 1 && n <= 3 }
	s := NewStream(Options{Source: ids})
	for _, part := range []string{"x [3]", "[1] and ", "more.\n\nNext", " [2]", " [3]"} {
		s.Write(part)
		html := joined(joinedBlocks(s.Render(false)))
		if strings.Contains(html, "x <sup") && !strings.Contains(html, "x "+sups("{1}")) {
			t.Fatalf("d9 is not number 1 in %s", html)
		}
	}
	if s.Render(true); !reflect.DeepEqual(s.Cited(), []string{"d9", "d7", "d2"}) {
		t.Errorf("cited %v", s.Cited())
	}
}

func TestRenumber(t *testing.T) {
	o := testOptions()
	o.Numbered = []string{"k9"}
	for src, want := range map[string]string{
		"a [7][3] b [3, 7] c [12]. `x[7]` d":         "a [1][2] b [2][1] c. `x[7]` d",
		"a 【5†s】 [[2]](http://x) [5-6]\n":            "a [1] [2] [1][3]",
		"> q [4]\n\n| h [2] |\n|---|\n| [4] |":       "> q [1]\n\n| h [2] |\n|---|\n| [1] |",
		"see [x [8]](/y) [source].\n\nSources:\n- a": "see [x [1]](/y).",
		"none": "none",
		"":     "",
	} {
		if got := Renumber(src, o); got != want {
			t.Errorf("Renumber(%q) = %q, want %q", src, got, want)
		}
	}
}

func TestRenumberRunning(t *testing.T) {
	o := testOptions()
	o.Numbered = []string{"k9", "k3"}
	for src, want := range map[string]string{
		"a [7][3] b [3, 7] c [12]. `x[7]` d": "a [3][2] b [2][3] c. `x[7]` d",
		"[9]. [5-6]":                         "[1]. [3][4]",
		"none":                               "none",
	} {
		if got := RenumberRunning(src, o); got != want {
			t.Errorf("RenumberRunning(%q) = %q, want %q", src, got, want)
		}
	}
}

func TestMarkerGrammar(t *testing.T) {
	for src, want := range map[string]int{
		"[1]": 3, "[1] x": 3, "[ 1 ]": 5, "[1,2]x": 5, "[1–3]": 7, "[[1]]": 5, "[[1] x": 0, "[1](u)": 6, "[1](u v)": 3, `[1](u "t") x`: 10, "[1](<u v>)": 10,
		"[1](a(b)c)d": 10, "[1](u\n)": 3, "[]": 0, "[x]": 0, "[1x]": 0, "[1": 0, "[1,]": 0, "[3-1]": 0, "[1-2-3]": 0, "[1234567]": 0, "[^a]": 0,
		"[source]": 8, "[source](u)": 0, "[source code]": 0, "[Sources: a, b]": 15, "[Source 2]": 10, "[source\n]": 0, "【1】": 7, "【1]": 0, "[1】": 0, "【1†a[b】": 0,
	} {
		if _, n := scanMarker([]byte(src)); n != want {
			t.Errorf("%q: %d, want %d", src, n, want)
		}
	}
	if m, _ := scanMarker([]byte("[1, 5-7]")); !reflect.DeepEqual(m.spans, []span{{1, 1}, {5, 7}}) {
		t.Errorf("spans %v", m.spans)
	}
}

func TestHugeRangesAreCutShort(t *testing.T) {
	asked := 0
	s := NewStream(Options{Source: func(int) (string, bool) { asked++; return "", false }})
	s.Write("x [1-999999] y")
	if got := joined(joinedBlocks(s.Render(true))); got != "<p dir=\"auto\">x y</p>\n" {
		t.Error(got)
	}
	if asked > maxRange+1 || s.Dropped() == 0 {
		t.Errorf("asked %d times, dropped %d", asked, s.Dropped())
	}
}
