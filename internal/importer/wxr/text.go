package wxr

import (
	"html"
	"regexp"
	"strings"
)

// blockTag is what starts or ends markup that stands for itself between paragraphs.
var blockTag = regexp.MustCompile(`(?i)^</?(?:address|article|aside|blockquote|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|script|section|style|summary|table|tbody|td|tfoot|th|thead|tr|ul)\b`)

var (
	preformatted = regexp.MustCompile(`(?is)<(pre|script|style)\b.*?</(?:pre|script|style)>`)
	blankLines   = regexp.MustCompile(`\n[ \t]*\n\s*`)
)

// paragraphs makes paragraphs of the blank lines that the classic editor keeps
// instead, and line breaks of single ones. What the block editor wrote has both.
func paragraphs(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if strings.Contains(s, "<!-- wp:") {
		return embedBlock.ReplaceAllString(s, `$1<a href="$2">$2</a><`)
	}
	var kept []string
	s = preformatted.ReplaceAllStringFunc(s, func(block string) string {
		kept = append(kept, block)
		return "\n\n<pre-\uE000>\n\n"
	})
	var b strings.Builder
	for _, chunk := range blankLines.Split(s, -1) {
		chunk = strings.TrimSpace(chunk)
		switch {
		case chunk == "":
		case strings.HasPrefix(chunk, "<pre-\uE000>") && len(kept) > 0:
			b.WriteString(kept[0])
			kept = kept[1:]
		case lonelyAddress.MatchString(chunk):
			b.WriteString(`<p><a href="` + chunk + `">` + chunk + `</a></p>`)
		case blockTag.MatchString(chunk):
			b.WriteString(chunk)
		default:
			b.WriteString("<p>" + strings.ReplaceAll(chunk, "\n", "<br>\n") + "</p>")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// shortcodeTag is one of WordPress' shortcodes, or of a plugin's.
var shortcodeTag = regexp.MustCompile(`\[(\[?)(/?)([a-zA-Z][a-zA-Z0-9_-]{0,60})((?:\s[^\[\]<>]*)?)(/?)\](\]?)`)

// coreShortcodes are known whatever they look like.
var coreShortcodes = map[string]bool{
	"audio": true, "caption": true, "embed": true, "gallery": true, "playlist": true, "video": true, "wp_caption": true,
}

// shortcodes turns shortcodes into the text within them: nobody is here to run
// them. Brackets that are only brackets stay.
func shortcodes(s string) string {
	if !strings.Contains(s, "[") {
		return s
	}
	closed := map[string]bool{}
	for _, m := range shortcodeTag.FindAllStringSubmatch(s, -1) {
		if m[2] == "/" {
			closed[m[3]] = true
		}
	}
	var b strings.Builder
	for at := 0; ; {
		m := shortcodeTag.FindStringSubmatchIndex(s[at:])
		if m == nil {
			b.WriteString(s[at:])
			return b.String()
		}
		group := func(n int) string { return s[at+m[2*n] : at+m[2*n+1]] }
		whole := s[at+m[0] : at+m[1]]
		b.WriteString(s[at : at+m[0]])
		name, params := group(3), group(4)
		switch {
		case group(1) == "[" && group(6) == "]": // written twice, to be shown
			b.WriteString(whole[1 : len(whole)-1])
		case !coreShortcodes[name] && !closed[name] && group(5) == "" && !strings.Contains(params, "="):
			b.WriteString(whole)
		default:
			b.WriteString(group(1) + mediaLink(name, params) + group(6))
		}
		at += m[1]
	}
}

var mediaSource = regexp.MustCompile(`\b(?:src|mp3|mp4|m4a|m4v|ogg|webm|wav)="([^"<>]+)"`)

// mediaLink leads to what a player would have played.
func mediaLink(name, params string) string {
	if name != "audio" && name != "video" {
		return ""
	}
	if m := mediaSource.FindStringSubmatch(params); m != nil {
		address := html.EscapeString(html.UnescapeString(m[1]))
		return `<a href="` + address + `">` + address + `</a>`
	}
	return ""
}

// An address that stands alone, which WordPress shows as a player or a card.
var (
	lonelyAddress = regexp.MustCompile(`^https?://[^\s<>"']+$`)
	embedBlock    = regexp.MustCompile(`(wp-block-embed__wrapper">)\s*(https?://[^\s<>"']+)\s*<`)
)
