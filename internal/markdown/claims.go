package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A Claim is what a marker vouches for.
type Claim struct {
	Keys     []string // the sources that the marker names
	Sentence string   // plain text of the sentence up to the marker
	Part     string   // what of it stands behind the marker before: the claim proper
	Before   string   // sentences of the paragraph before it, back to the marker before
}

// Claims returns the claims of a whole text in its order, one for each marker that
// names a source.
func Claims(src string, o Options) []Claim {
	s := finished(src, o)
	var out []Claim
	group := 0 // where the run of adjacent markers begins
	for i, e := range s.cites.edits {
		if i == 0 || len(bytes.TrimLeft(s.buf[s.cites.edits[i-1].stop:e.start], " ")) > 0 {
			group = i
		}
		if len(e.keys) > 0 {
			c := s.claim(group)
			c.Keys = e.keys
			out = append(out, c)
		}
	}
	return out
}

// claim is what stands before the marker with an index, which is the first of its run.
func (s *Stream) claim(first int) Claim {
	edits := s.cites.edits
	end := edits[first].start
	start := lineStart(s.buf, end)
	if len(bytes.Trim(s.buf[start:end], " \t-*+>|")) == 0 && start > 0 { // a marker alone on its line
		end = start + len(bytes.TrimRight(s.buf[:start], " \t\n")) - start
		start = lineStart(s.buf, end)
	}
	text := bytes.Clone(s.buf[start:end])
	part := 0
	for i := first - 1; i >= 0 && edits[i].stop > start; i-- {
		from, to := max(edits[i].start-start, 0), min(edits[i].stop-start, len(text))
		if from >= to {
			continue
		}
		for j := from; j < to; j++ {
			text[j] = ' '
		}
		part = max(part, to)
	}
	from := sentenceStart(text)
	c := Claim{Sentence: plainLine(text[from:])}
	if part > from {
		c.Part = plainLine(text[part:])
	}
	if c.Part == "" {
		c.Part = c.Sentence
	}
	if part < from {
		c.Before = plainLine(text[part:from])
	}
	return c
}

// sentenceStart is where the last sentence of a line begins. The mark that ends
// the line ends that sentence.
func sentenceStart(line []byte) int {
	end := len(bytes.TrimRight(line, " \t.!?。！？؟\"'”’»)*_"))
	start := 0
	for i := 0; i < end; {
		r, n := utf8.DecodeRune(line[i:])
		i += n
		switch {
		case strings.ContainsRune("。！？", r):
			start = i
		case strings.ContainsRune(".!?؟", r) && i < end && line[i] == ' ':
			start = i + 1
		}
	}
	return start
}

func plainLine(text []byte) string {
	return strings.Join(strings.Fields(PlainText(strings.TrimSpace(string(text)))), " ")
}
