package importer

import (
	"errors"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// A value is one entry of front matter: text, a list of texts, or entries below it.
type value struct {
	line  int
	text  string
	list  []string
	below map[string]value
}

// A matter is the front matter of a file, its keys in lower case.
type matter struct {
	values map[string]value
	broken bool // what is there may not be all that the author wrote
}

// A note is a problem at a line of the file being read; line 0 means the whole file.
type note struct {
	line int
	text string
}

// split separates front matter from body. bodyLine is the line that body starts
// on. A file that only begins with a rule has no front matter.
func split(text string) (m matter, body string, bodyLine int, notes []note) {
	start, line := 0, 1
	for start < len(text) { // blank lines before the front matter
		end := lineEnd(text, start)
		if strings.TrimSpace(text[start:end]) != "" {
			break
		}
		start, line = end, line+1
	}
	first := lineEnd(text, start)
	fence := strings.TrimRight(text[start:first], " \t\n")
	if fence != "---" && fence != "+++" {
		return matter{}, text, 1, nil
	}
	for at, n := first, line+1; at < len(text); n++ {
		end := lineEnd(text, at)
		got := strings.TrimRight(text[at:end], " \t\n")
		if got == fence || fence == "---" && got == "..." {
			block := text[first:at]
			if fence == "+++" {
				m, notes = parseTOML(block, line)
			} else if m, notes = parseYAML(block, line); m.values == nil && !m.broken {
				return matter{}, text, 1, nil
			}
			return m, text[end:], n + 1, notes
		}
		at = end
	}
	if fence == "---" && !strings.Contains(text[first:lineEnd(text, first)], ":") {
		return matter{}, text, 1, nil
	}
	return matter{broken: true}, text, 1, []note{{line, "the front matter has no end"}}
}

// lineEnd is the offset behind the line that at lies in.
func lineEnd(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s)
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// parseYAML reads YAML that follows the given line of its file.
func parseYAML(block string, offset int) (m matter, notes []note) {
	defer func() {
		if p := recover(); p != nil { // hostile input must not end an import
			m, notes = salvage(block, offset), []note{{offset, fmt.Sprintf("the front matter cannot be read: %v", p)}}
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil {
		line, text := offset+1, err.Error()
		if found := yamlLine.FindStringSubmatch(text); found != nil {
			n, _ := strconv.Atoi(found[1])
			line = offset + n
		}
		if _, after, ok := strings.Cut(text, ": "); ok {
			text = after
		}
		return salvage(block, offset), []note{{line, "the front matter is not valid YAML: " + text}}
	}
	if len(doc.Content) == 0 { // empty, or comments only
		return matter{values: map[string]value{}}, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return matter{}, nil
	}
	values, notes := yamlMap(doc.Content[0], offset)
	return matter{values: values}, notes
}

func yamlMap(n *yaml.Node, offset int) (map[string]value, []note) {
	values := make(map[string]value, len(n.Content)/2)
	var notes []note
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := strings.ToLower(n.Content[i].Value)
		if _, ok := values[key]; ok {
			notes = append(notes, note{offset + n.Content[i].Line, fmt.Sprintf("%q is given twice: the last one counts", key)})
		}
		values[key] = yamlValue(n.Content[i+1], offset)
	}
	return values, notes
}

func yamlValue(n *yaml.Node, offset int) value {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	v := value{line: offset + n.Line}
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag != "!!null" {
			v.text = n.Value
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if c.Kind == yaml.ScalarNode && c.Tag != "!!null" {
				v.list = append(v.list, c.Value)
			}
		}
	case yaml.MappingNode:
		v.below = make(map[string]value, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			if c := n.Content[i+1]; c.Kind == yaml.ScalarNode {
				v.below[strings.ToLower(n.Content[i].Value)] = value{line: offset + c.Line, text: c.Value}
			} else {
				v.below[strings.ToLower(n.Content[i].Value)] = value{line: offset + c.Line}
			}
		}
	}
	return v
}

// salvage takes from broken front matter the lines that say one thing each.
func salvage(block string, offset int) matter {
	m := matter{values: map[string]value{}, broken: true}
	n := offset
	for line := range strings.Lines(block) {
		n++
		key, text, ok := strings.Cut(line, ":")
		if !ok || key == "" || strings.ContainsAny(key, " \t#-\"'") {
			continue
		}
		m.values[strings.ToLower(key)] = value{line: n, text: strings.Trim(strings.TrimSpace(text), `"'`)}
	}
	return m
}

func parseTOML(block string, offset int) (matter, []note) {
	var doc map[string]any
	if err := toml.Unmarshal([]byte(block), &doc); err != nil {
		line := offset
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, _ := e.Position()
			line += row
		}
		return matter{broken: true}, []note{{line, "the front matter is not valid TOML: " + err.Error()}}
	}
	m := matter{values: map[string]value{}}
	for key, v := range doc {
		m.values[strings.ToLower(key)] = tomlValue(v, offset)
	}
	return m, nil
}

func tomlValue(v any, line int) value {
	out := value{line: line}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if s := tomlValue(x, line); s.text != "" {
				out.list = append(out.list, s.text)
			}
		}
	case map[string]any:
		out.below = map[string]value{}
		for key, x := range v {
			out.below[strings.ToLower(key)] = tomlValue(x, line)
		}
	case time.Time:
		out.text = v.Format(time.RFC3339)
	default:
		out.text = fmt.Sprint(v)
	}
	return out
}

// text returns the first of some keys that says something, as one line of plain
// text.
func (m matter) text(keys ...string) string {
	for _, key := range keys {
		if t := plain(m.values[key].text); t != "" {
			return t
		}
	}
	return ""
}

// list returns what some keys list together: a list, or text with commas.
func (m matter) list(keys ...string) []string {
	var out []string
	for _, key := range keys {
		v := m.values[key]
		items := v.list
		if v.text != "" {
			items = strings.Split(v.text, ",")
		}
		for _, item := range items {
			if item = plain(item); item != "" && !slices.Contains(out, item) {
				out = append(out, item)
			}
		}
	}
	return out
}

// flag reads a yes or no; anything else is the default, and reported.
func (m matter) flag(key string, otherwise bool, report func(int, string, ...any)) bool {
	v, ok := m.values[key]
	if !ok || v.text == "" {
		return otherwise
	}
	switch strings.ToLower(v.text) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0":
		return false
	}
	report(v.line, "%q is neither true nor false: %s", v.text, key)
	return otherwise
}

// weight reads the first of some keys that is a number.
func (m matter) weight(report func(int, string, ...any), keys ...string) int {
	for _, key := range keys {
		v := m.values[key]
		if v.text == "" {
			continue
		}
		f, err := strconv.ParseFloat(v.text, 64)
		if err != nil || f < -1e9 || f > 1e9 {
			report(v.line, "%q is not a number: %s", v.text, key)
			continue
		}
		return int(f)
	}
	return 0
}

var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:4:5 -0700", "2006-01-02 15:4:5 -07:00", "2006-01-02 15:4 -0700", "2006-01-02 15:4:5 MST",
	"2006-01-02T15:4:5", "2006-01-02 15:4:5", "2006-01-02T15:4", "2006-01-02 15:4", "2006-1-2", "2006/1/2",
	"January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 Jan 2006", time.RFC1123, time.RFC1123Z,
}

// date reads the first of some keys that is a date; without a zone it is UTC.
func (m matter) date(report func(int, string, ...any), keys ...string) time.Time {
	for _, key := range keys {
		v := m.values[key]
		if v.text == "" {
			continue
		}
		if t, ok := parseDate(v.text); ok {
			return t
		}
		report(v.line, "%q is not a date: %s", v.text, key)
	}
	return time.Time{}
}

func parseDate(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 0 && t.Year() < 10000 {
			return t.UTC().Truncate(time.Microsecond), true
		}
	}
	return time.Time{}, false
}

// menu reads the habits of Hugo: a name, a list of names, or names with settings.
// One menu counts.
func (m matter) menu() (name, title string) {
	v := m.values["menu"]
	if v.text == "" && v.list == nil && v.below == nil {
		v = m.values["menus"]
	}
	switch {
	case v.text != "":
		name = v.text
	case len(v.list) > 0:
		name = v.list[0]
	case len(v.below) > 0:
		name = slices.Min(slices.Collect(maps.Keys(v.below)))
	}
	return name, m.text("menu_title")
}

// plain makes one line of plain text: entities decoded, tags and white space gone.
func plain(s string) string {
	if strings.Contains(s, "<") {
		s = dropTags(s)
	}
	return strings.Join(strings.Fields(html.UnescapeString(clean(s))), " ")
}

// clean drops control characters, which no database or page should hold.
func clean(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, s)
}

func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\uFEFF' || r >= '\u202a' && r <= '\u202e'
}
