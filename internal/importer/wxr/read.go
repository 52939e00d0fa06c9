package wxr

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// Sizes that an export must stay within, in bytes.
const (
	maxExport = 4 << 30
	maxItem   = 32 << 20 // one post with its comments
)

var (
	errNoExport = errors.New("is not a WordPress export: no <rss> with <channel>")
	errTooLarge = fmt.Errorf("has an item of more than %d MB", maxItem>>20)
)

// A channel is what an export says about its site.
type channel struct {
	title, link, language string
	authors               map[string]string // login -> name shown
}

// An item is one entry of an export: a post, a page, an attachment or what
// plugins keep.
type item struct {
	Title    string `xml:"title"`
	Link     string `xml:"link"`
	Creator  string `xml:"creator"`
	Encoded  []part `xml:"encoded"`
	ID       string `xml:"post_id"`
	Date     string `xml:"post_date"`
	DateGMT  string `xml:"post_date_gmt"`
	Modified string `xml:"post_modified_gmt"`
	Name     string `xml:"post_name"`
	Status   string `xml:"status"`
	Parent   string `xml:"post_parent"`
	Order    string `xml:"menu_order"`
	Type     string `xml:"post_type"`
	Password string `xml:"post_password"`
	URL      string `xml:"attachment_url"`
	Terms    []term `xml:"category"`
	Meta     []meta `xml:"postmeta"`
}

// A part is the content or the excerpt, which differ by their namespace alone.
type part struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
}

type term struct {
	Domain string `xml:"domain,attr"`
	Slug   string `xml:"nicename,attr"`
	Name   string `xml:",chardata"`
}

type meta struct {
	Key   string `xml:"meta_key"`
	Value string `xml:"meta_value"`
}

func (it *item) content() string { return it.encoded("content") }
func (it *item) excerpt() string { return strings.TrimSpace(it.encoded("excerpt")) }

func (it *item) encoded(namespace string) string {
	for _, p := range it.Encoded {
		if strings.Contains(p.XMLName.Space, namespace) {
			return p.Text
		}
	}
	return ""
}

func (it *item) meta(key string) string {
	for _, m := range it.Meta {
		if m.Key == key {
			return m.Value
		}
	}
	return ""
}

// read hands the items of an export to yield, one at a time, and returns what it
// says about its site. Entities that an export declares itself are not expanded.
func read(r io.Reader, yield func(*item) error) (channel, error) {
	ch := channel{authors: map[string]string{}}
	limit := &budget{r: io.LimitReader(r, maxExport)}
	d := xml.NewDecoder(&legal{r: bufio.NewReaderSize(limit, 64<<10)})
	d.Entity = xml.HTMLEntity
	d.CharsetReader = charset.NewReaderLabel
	inChannel := false
	for {
		limit.left = maxItem
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && inChannel:
			return ch, nil
		case errors.Is(err, io.EOF):
			return ch, errNoExport
		case err != nil:
			return ch, fmt.Errorf("read export: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !inChannel {
			switch start.Name.Local {
			case "channel":
				inChannel = true
			case "rss":
			default:
				return ch, errNoExport
			}
			continue
		}
		if err := ch.element(d, start, yield); err != nil {
			return ch, err
		}
	}
}

func (ch *channel) element(d *xml.Decoder, start xml.StartElement, yield func(*item) error) error {
	text := func(into *string) error {
		var s string
		err := d.DecodeElement(&s, &start)
		if *into == "" {
			*into = strings.TrimSpace(s)
		}
		return err
	}
	var err error
	switch start.Name.Local {
	case "title":
		err = text(&ch.title)
	case "link", "base_blog_url":
		if start.Name.Space != "http://www.w3.org/2005/Atom" {
			err = text(&ch.link)
		}
	case "language":
		err = text(&ch.language)
	case "author":
		var a struct {
			Login string `xml:"author_login"`
			Name  string `xml:"author_display_name"`
		}
		if err = d.DecodeElement(&a, &start); err == nil {
			ch.authors[a.Login] = strings.TrimSpace(a.Name)
		}
	case "item":
		var it item
		if err = d.DecodeElement(&it, &start); err == nil {
			return yield(&it)
		}
	default:
		err = d.Skip()
	}
	if err != nil {
		return fmt.Errorf("read export: %w", err)
	}
	return nil
}

// A budget fails when more is read than left allows, so that one item cannot
// fill the memory.
type budget struct {
	r    io.Reader
	left int
}

func (b *budget) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= n; b.left < 0 {
		return n, errTooLarge
	}
	return n, err
}

// legal replaces the control characters that WordPress lets into exports and XML
// does not allow.
type legal struct{ r io.Reader }

func (l *legal) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, b := range p[:n] {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' {
			p[i] = ' '
		}
	}
	return n, err
}
