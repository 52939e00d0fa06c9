package llm

import "strings"

// expand returns the units to quote with s so that the quote can be understood.
func expand(r ranking, s scored) []int {
	units := r.passages[s.passage].units
	u := units[s.unit]
	switch {
	case u.isTitle:
		if run := titles(units, s.unit); len(run) > 1 && (r.question.cue == cueList || r.question.cue == cueHowTo) {
			return run
		}
		return withNext(units, s.unit)
	case u.kind == itemUnit:
		if wantsList(r, s) {
			return list(units, s.unit)
		}
		if u.lead >= 0 {
			return []int{u.lead, s.unit}
		}
		return []int{s.unit}
	case u.kind == rowUnit:
		return rows(units, s.unit)
	case strings.HasSuffix(u.text, ":") && s.unit+1 < len(units) && units[s.unit+1].lead == s.unit:
		return list(units, s.unit+1)
	}
	first, last := s.unit, s.unit
	for first > 0 && units[first-1].block == u.block && s.unit-first < 2 && leanSentence(units[first].text) {
		first--
	}
	words := 0
	for i := first; i <= last; i++ {
		words += wordCount(units[i].text)
	}
	for last+1 < len(units) && units[last+1].block == u.block && last-s.unit < 2 && leanSentence(units[last+1].text) {
		next := wordCount(units[last+1].text)
		if words+next > 70 {
			break
		}
		words += next
		last++
	}
	if strings.HasSuffix(units[last].text, ":") && last+1 < len(units) {
		if units[last+1].lead == last {
			return append(span(first, last-1), list(units, last+1)...)
		}
		for block := units[last+1].block; last+1 < len(units) && units[last+1].block == block && words < 70; last++ {
			words += wordCount(units[last+1].text)
		}
	}
	return span(first, last)
}

func span(first, last int) []int {
	var out []int
	for i := first; i <= last; i++ {
		out = append(out, i)
	}
	return out
}

func withNext(units []unit, i int) []int {
	if i+1 < len(units) && units[i+1].kind == sentenceUnit && !units[i+1].isTitle {
		return []int{i, i + 1}
	}
	return []int{i}
}

// wantsList tells whether the whole list of an item is the answer: the question
// asks for one, or several of its items fit.
func wantsList(r ranking, s scored) bool {
	if c := r.question.cue; c == cueList || c == cueHowTo {
		return true
	}
	units := r.passages[s.passage].units
	fit, items, words := 0, 0, 0
	for _, i := range list(units, s.unit) {
		if units[i].kind != itemUnit {
			continue
		}
		items++
		words += wordCount(units[i].text)
		if r.units[r.first[s.passage]+i].score >= 0.75*s.score {
			fit++
		}
	}
	return fit >= 2 && fit*2 >= items || words <= 60
}

// list returns the units of the list that item i belongs to, after their
// lead-in.
func list(units []unit, i int) []int {
	var out []int
	if lead := units[i].lead; lead >= 0 {
		if lead > 0 && units[lead-1].block == units[lead].block && leanSentence(units[lead].text) {
			out = append(out, lead-1)
		}
		out = append(out, lead)
	}
	first := i
	for first > 0 && units[first-1].block == units[i].block && units[first-1].kind == itemUnit {
		first--
	}
	last := i
	for last+1 < len(units) && units[last+1].block == units[i].block && units[last+1].kind == itemUnit {
		last++
	}
	if last-first >= maxItems {
		first = max(first, min(i-maxItems/2, last-maxItems+1))
		last = min(last, first+maxItems-1)
	}
	return append(out, span(first, last)...)
}

// rows returns the table of row i when it is small, else the row alone.
func rows(units []unit, i int) []int {
	first, last := i, i
	for first > 0 && units[first-1].block == units[i].block && units[first-1].kind == rowUnit {
		first--
	}
	for last+1 < len(units) && units[last+1].block == units[i].block && units[last+1].kind == rowUnit {
		last++
	}
	words := 0
	for k := first; k <= last; k++ {
		words += wordCount(units[k].text)
	}
	if last-first >= maxRows || words > maxWords {
		return []int{i}
	}
	return span(first, last)
}

// titles returns the numbered headings that stand on one level with heading i.
func titles(units []unit, i int) []int {
	var out []int
	for k, u := range units {
		if u.isTitle && len(u.path) == len(units[i].path) {
			out = append(out, k)
		}
	}
	return out[:min(len(out), maxItems)]
}

// leanSentence tells whether a sentence needs the one before it.
func leanSentence(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	word := strings.ToLower(strings.Trim(first, `,;:"'“”‘’(`))
	return has(leansBack, word) || first != "" && !startsSentence(first)
}
