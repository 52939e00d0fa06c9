package importer

import (
	"fmt"
	"strings"
)

// Shortcodes whose names say more than their parameters do.
var (
	itemMarks = map[string]string{
		"checkbox": "- ", "checkbox-sublist-item": "  - ", "checklist-item": "- ",
		"do-row": "- Do: ", "dont-row": "- Don’t: ",
	}
	// embeds show what another site holds: nothing to read.
	embeds = map[string]bool{"tweet": true, "x": true, "instagram": true, "fb-video": true, "gist": true, "toc": true}
)

// render returns the Markdown of one shortcode tag, and whether it opens a list
// item. The inner text of pairs stays where it is.
func render(sc shortcode, l pageLinks, report func(string)) (text string, item bool) {
	if mark, ok := itemMarks[sc.name]; ok {
		if sc.closing {
			return "", false
		}
		return mark, true
	}
	if sc.closing {
		return "", false
	}
	switch sc.name {
	case "ref", "relref":
		target := sc.first("path", "0")
		if address, ok := l.ref(target); ok {
			return address, false
		}
		report(fmt.Sprintf("no page for %s %q", sc.name, target))
		return nowhere, false
	case "link":
		target := sc.first("href", "url", "path", "0")
		if address, ok := l.ref(target); ok {
			return address, false
		}
		return target, false
	case "tmp", "legacy-file": // pages and files that the import does not have
		return nowhere, false
	case "quote-block", "blockquote", "quote":
		return quote(sc), false
	case "featured-resource", "card-page", "page-link":
		target := sc.first("link", "href", "url", "0")
		if title, ok := l.title(target); ok {
			address, _ := l.ref(target)
			return "[" + title + "](" + address + ")", false
		}
		return "", false
	case "img", "image", "figure":
		if address, ok := l.image(sc.first("src", "0"), sc.first("alt", "caption", "title")); ok {
			return "![" + sc.first("alt", "caption", "title") + "](" + address + ")", false
		}
	}
	if embeds[sc.name] {
		return "", false
	}
	return generic(sc), false
}

// generic makes text of the parameters that hold text: a link, a title that
// stands above the inner text, or the words of something that is not shown.
func generic(sc shortcode) string {
	text := sc.first("text", "label")
	if href := sc.first("href", "url", "button-url"); href != "" {
		if text == "" {
			text = sc.first("button-text", "title")
		}
		if text != "" {
			lead := ""
			if intro := sc.first("intro"); intro != "" {
				lead = intro + "\n\n"
			}
			return lead + "[" + text + "](" + href + ")"
		}
	}
	if text != "" {
		return text
	}
	if title := sc.first("title", "heading", "summary"); title != "" {
		if players[sc.name] || strings.Contains(sc.name, "video") || strings.Contains(sc.name, "iframe") {
			return title
		}
		return titleLine(title)
	}
	alt, caption := sc.first("alt"), sc.first("caption")
	if alt != "" && caption != "" && alt != caption {
		return alt + " (" + caption + ")"
	}
	if alt != "" {
		return alt
	}
	return caption
}

var players = map[string]bool{"youtube": true, "vimeo": true, "audio": true, "img": true, "figure": true, "image": true}

// titleLine sets a title of something that opens here as a paragraph of its own.
func titleLine(title string) string {
	if !strings.Contains(title, "**") {
		title = "**" + strings.TrimSpace(title) + "**"
	}
	return "\n\n" + title + "\n\n"
}

func quote(sc shortcode) string {
	text := sc.first("text", "quote")
	if text == "" {
		if title := sc.first("title"); title != "" {
			return titleLine(title)
		}
		return ""
	}
	out := "\n\n> " + strings.ReplaceAll(text, "\n", "\n> ")
	if by := sc.first("cite", "author", "source"); by != "" {
		out += "\n>\n> — " + by
	}
	return out + "\n\n"
}

// liquidTag reads Jekyll's tag or expression at i.
func (x *expander) liquidTag(i int) (text string, end int) {
	s, closer := x.s, "}}"
	if s[i+1] == '%' {
		closer = "%}"
	}
	n := strings.Index(s[i+2:min(len(s), i+1<<10)], closer)
	if n < 0 || strings.Contains(s[i:i+2+n], "\n\n") { // no tag goes on behind a blank line, where code may begin
		return s[i : i+2], i + 2
	}
	end = i + n + 4
	inner := strings.TrimSpace(strings.Trim(s[i+2:i+2+n], "-"))
	if closer == "}}" {
		text, _, _ = strings.Cut(inner, "|")
		text = strings.TrimSpace(text)
		if len(text) > 1 && (text[0] == '"' || text[0] == '\'') {
			return strings.Trim(text, `"'`), end
		}
		if strings.HasPrefix(text, "site.") || strings.HasPrefix(text, "page.") {
			return "", end
		}
		return s[i:end], end
	}
	name, rest, _ := strings.Cut(inner, " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "comment", "raw", "highlight":
		stop := "{% end" + name + " %}"
		after := x.find(end, stop)
		if after == 0 {
			return "", end
		}
		inner := s[end : after-len(stop)]
		switch name {
		case "comment":
			return "", after
		case "highlight":
			lang, _, _ := strings.Cut(rest, " ")
			return "\n\n" + fenced(lang, inner) + "\n\n", after
		}
		return inner, after
	case "link", "post_url":
		if address, ok := x.links.ref(rest); ok {
			return address, end
		}
		return nowhere, end
	case "include":
		if sc, _, ok := parseShortcode(rest+"%}", 0, "%}"); ok {
			sc.name = "include"
			return generic(sc), end
		}
	}
	return "", end
}
