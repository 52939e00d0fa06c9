package importer

import "strings"

// maxSpan and maxPrefix bound how far a search goes, so that hostile text costs
// no more than its size: a code span, and what stands before a block.
const maxSpan, maxPrefix = 1 << 16, 1 << 10

// codeEnd returns where the code ends that begins at i: a fenced block, whose
// fence begins at i, or a code span. Without code at i it returns i.
func codeEnd(s string, i int) int {
	c := s[i]
	if c != '`' && c != '~' {
		return i
	}
	n := runLength(s, i)
	if n >= 3 {
		if quoted, ok := fencePrefix(s, i); ok {
			info := s[i+n : lineEnd(s, i)]
			if c == '~' || !strings.Contains(info, "`") {
				return fenceEnd(s, i, n, quoted)
			}
		}
	}
	if c == '~' || escaped(s, i) {
		return i
	}
	for j := i + n; j < min(len(s), i+maxSpan); {
		switch s[j] {
		case '`':
			m := runLength(s, j)
			if m >= 3 {
				if _, ok := fencePrefix(s, j); ok {
					return i + n // a block ends the paragraph, and the span with it
				}
			}
			if m == n {
				return j + m
			}
			j += m
		case '\n':
			if strings.TrimLeft(s[j+1:lineEnd(s, j+1)], " \t\n") == "" {
				return i + n
			}
			j++
		default:
			j++
		}
	}
	return i + n // the run stands for itself
}

func runLength(s string, i int) int {
	n := i
	for n < len(s) && s[n] == s[i] {
		n++
	}
	return n - i
}

// escaped reports whether an odd number of backslashes stands before i.
func escaped(s string, i int) bool {
	n := 0
	for i > n && s[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// fencePrefix reports whether only what may precede a block stands before i on
// its line: white space, quote marks, list markers.
func fencePrefix(s string, i int) (quoted, ok bool) {
	from := max(0, i-maxPrefix)
	start := from + strings.LastIndexByte(s[from:i], '\n') + 1
	if start == from && from > 0 {
		return false, false
	}
	prefix := strings.TrimLeft(s[start:i], " \t")
	for prefix != "" {
		switch c := prefix[0]; {
		case c == '>':
			quoted = true
			prefix = prefix[1:]
		case (c == '-' || c == '*' || c == '+') && len(prefix) > 1 && (prefix[1] == ' ' || prefix[1] == '\t'):
			prefix = prefix[1:]
		case c >= '0' && c <= '9':
			rest := strings.TrimLeft(prefix, "0123456789")
			if len(prefix)-len(rest) > 9 || len(rest) < 2 || rest[0] != '.' && rest[0] != ')' || rest[1] != ' ' {
				return false, false
			}
			prefix = rest[1:]
		default:
			return false, false
		}
		prefix = strings.TrimLeft(prefix, " \t")
	}
	return quoted, true
}

// fenceEnd returns the offset behind the line that closes the fence of n marks at
// i, or where its quotation ends, or the end of the text.
func fenceEnd(s string, i, n int, quoted bool) int {
	for at := lineEnd(s, i); at < len(s); at = lineEnd(s, at) {
		line := strings.TrimLeft(s[at:lineEnd(s, at)], " \t")
		if quoted {
			if !strings.HasPrefix(line, ">") {
				return at
			}
			line = strings.TrimLeft(line, " \t>")
		}
		if line != "" && line[0] == s[i] {
			if m := runLength(line, 0); m >= n && strings.TrimSpace(line[m:]) == "" {
				return lineEnd(s, at)
			}
		}
	}
	return len(s)
}
