package answer

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"Write to ada.lovelace+x@example.org please":                "Write to [mail] please",
		"my IBAN is DE89 3704 0044 0532 0130 00, thanks":            "my IBAN is [account], thanks",
		"IBAN GB82WEST12345698765432":                               "IBAN [account]",
		"card 4111 1111 1111 1111 exp 12/27":                        "card [card] exp 12/27",
		"card 4111-1111-1111-1111":                                  "card [card]",
		"call +44 20 7946 0958 or (020) 7946 0958":                  "call [phone] or [phone]",
		"call 030/1234567":                                          "call [phone]",
		"reference 123456789012345678":                              "reference [number]",
		"Open 2026-11-30 to 2027-01-15, 10:00 to 16:30":             "Open 2026-11-30 to 2027-01-15, 10:00 to 16:30",
		"On 30.11.2026 at 12.30 it costs 1,250.00":                  "On 30.11.2026 at 12.30 it costs 1,250.00",
		"from 1914-1918 and 2019/2020, room 12, 45 pupils, EN 1090": "from 1914-1918 and 2019/2020, room 12, 45 pupils, EN 1090",
		"version 1.2.3 of GPT-4.1":                                  "version 1.2.3 of GPT-4.1",
		"":                                                          "",
	} {
		if got := Mask(in, ""); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := Mask("Call 020 7946 0958 or me at 0171 123456", "The office: 020 7946 0958."); got != "Call 020 7946 0958 or me at [phone]" {
		t.Errorf("what sources say: %q", got)
	}
}

func FuzzMask(f *testing.F) {
	f.Add("a@b.cc 4111 1111 1111 1111 +44 20 7946 0958 DE89370400440532013000")
	f.Fuzz(func(t *testing.T, s string) {
		if once := Mask(s, ""); strings.Contains(once, "4111 1111 1111 1111") {
			t.Fatal("a card's number is left")
		}
	})
}
