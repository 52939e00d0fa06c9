package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestClaims(t *testing.T) {
	o := Options{Source: func(n int) (string, bool) { return fmt.Sprint("s", n), n >= 1 && n <= 4 }}
	for _, tt := range []struct{ text, want string }{
		{"It opens at ten [1].", "s1=It opens at ten/It opens at ten"},
		{"It opens at ten. It closes at four. [2]", "s2=It closes at four./It closes at four."},
		{"Ten [1] to four [2] daily.", "s1=Ten/Ten;s2=Ten to four/to four"},
		{"Both say so [1][2].", "s1=Both say so/Both say so;s2=Both say so/Both say so"},
		{"Both [1, 3] say.", "s1,s3=Both/Both"},
		{"- **Bring** boots [3]\n- and a coat [9]", "s3=- Bring boots/- Bring boots"},
		{"Rows follow.\n\n[4]", "s4=Rows follow./Rows follow."},
		{"[1]", "s1=/"},
		{"Code `x[1]` stays.", ""},
		{"三時に閉まります。十時に開きます[1]。", "s1=十時に開きます/十時に開きます"},
	} {
		var got []string
		for _, c := range Claims(tt.text, o) {
			got = append(got, strings.Join(c.Keys, ",")+"="+c.Sentence+"/"+c.Part)
		}
		if strings.Join(got, ";") != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestClaimsOfAParagraph(t *testing.T) {
	o := Options{Source: func(n int) (string, bool) { return fmt.Sprint("s", n), n >= 1 && n <= 4 }}
	got := Claims("One. Two [1]. Three. Four. [2]", o)
	if len(got) != 2 || got[0].Before != "One." || got[1].Before != ". Three." || got[1].Sentence != "Four." {
		t.Errorf("%+v", got)
	}
}

// However odd the text, each key that a claim names is one that the text cites.
func FuzzClaims(f *testing.F) {
	for _, s := range []string{"a [1][2]. b [3]", "[1]\n[2]", "| a [1] | b |\n|-|-|\n| c | d [2] |", "x[1](y)[^2]【3】"} {
		f.Add(s)
	}
	o := Options{Source: func(n int) (string, bool) { return fmt.Sprint("s", n), n >= 1 && n <= 4 }}
	f.Fuzz(func(t *testing.T, text string) {
		_, cited := Render(text, o)
		for _, c := range Claims(text, o) {
			for _, k := range c.Keys {
				if !slices.Contains(cited, k) {
					t.Fatalf("%q is claimed and not cited", k)
				}
			}
		}
	})
}
