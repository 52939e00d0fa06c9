package answer

import (
	"math/big"
	"regexp"
	"strings"
	"unicode"
)

var (
	mailPattern  = regexp.MustCompile(`(?i)[\p{L}0-9._%+-]+@[\p{L}0-9-]+(?:\.[\p{L}0-9-]+)+`)
	ibanPattern  = regexp.MustCompile(`(?i)\b[a-z]{2}[0-9]{2}(?:[ \x{00A0}-]?[a-z0-9]){11,30}\b`)
	digitsShaped = regexp.MustCompile(`(?:\+|\b00|\()?[0-9](?:[ \x{00A0}./()-]{0,2}[0-9]){6,23}`)
	datePattern  = regexp.MustCompile(`^(?:[0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{4}|[0-9]{4} ?[-/] ?[0-9]{4})(?:[ T][0-9:.]*)?$`)
)

// Mask replaces what identifies a person in text: mail addresses, phone numbers,
// numbers of cards, accounts and the like. What also stands in public is the
// site's own and stays.
func Mask(text, public string) string {
	put := func(label string, private func(string) bool) func(string) string {
		return func(s string) string {
			if public != "" && strings.Contains(public, s) || !private(s) {
				return s
			}
			return label
		}
	}
	text = mailPattern.ReplaceAllStringFunc(text, put("[mail]", func(string) bool { return true }))
	text = ibanPattern.ReplaceAllStringFunc(text, put("[account]", isIBAN))
	return digitsShaped.ReplaceAllStringFunc(text, func(s string) string {
		digits := onlyDigits(s)
		switch {
		case datePattern.MatchString(strings.TrimSpace(s)):
			return s
		case len(digits) >= 13 && len(digits) <= 19 && luhn(digits):
			return put("[card]", func(string) bool { return true })(s)
		case isPhone(s, digits):
			return put("[phone]", func(string) bool { return true })(s)
		case len(digits) >= 9:
			return put("[number]", func(string) bool { return true })(s)
		}
		return s
	})
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// isPhone takes numbers with a prefix of a country or a town, and those set in groups.
func isPhone(s, digits string) bool {
	if len(digits) > 15 {
		return false
	}
	return strings.HasPrefix(s, "+") || strings.HasPrefix(s, "(") || strings.HasPrefix(digits, "0") ||
		len(digits) >= 7 && len(digits) <= 12 && strings.Count(s, "-")+strings.Count(s, " ")+strings.Count(s, ".") >= 1 && !strings.Contains(s, "/") && len(digits) != 8
}

// luhn checks the digit at the end of a card's number.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		n := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// isIBAN checks the digits behind the country of an account's number.
func isIBAN(s string) bool {
	var plain strings.Builder
	for _, r := range strings.ToUpper(s) {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			plain.WriteRune(r)
		}
	}
	p := plain.String()
	if len(p) < 15 || len(p) > 34 {
		return false
	}
	var digits strings.Builder
	for _, r := range p[4:] + p[:4] {
		if r >= 'A' {
			digits.WriteString(big.NewInt(int64(r - 'A' + 10)).String())
		} else {
			digits.WriteRune(r)
		}
	}
	n, ok := new(big.Int).SetString(digits.String(), 10)
	return ok && new(big.Int).Mod(n, big.NewInt(97)).Int64() == 1
}
