// Package fromhtml makes Markdown of the HTML of other systems.
package fromhtml

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Links says where the addresses in a text lead by now.
type Links struct {
	// Link returns a link's new destination; "" keeps its text alone.
	Link func(href string) string
	// Image returns where an image is now; "" leaves its alternative text.
	Image func(src string) string
}

// Markdown converts a fragment of HTML. It fails for markup that is nested
// absurdly deep.
func Markdown(src string, links Links) (string, error) {
	doc, err := html.Parse(strings.NewReader(src))
	if err != nil {
		return "", fmt.Errorf("read HTML: %w", err)
	}
	return Node(doc, links)
}

// Node converts a tree, which it changes.
func Node(doc *html.Node, links Links) (string, error) {
	prepare(doc, links)
	c := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithHeadingStyle(commonmark.HeadingStyleATX)),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(table.WithHeaderPromotion(true), table.WithNewlineBehavior(table.NewlineBehaviorPreserve)),
	))
	for _, tag := range removed {
		c.Register.TagType(tag, converter.TagTypeRemove, converter.PriorityStandard)
	}
	out, err := c.ConvertNode(doc)
	if err != nil {
		return "", fmt.Errorf("make Markdown of HTML: %w", err)
	}
	return string(bytes.TrimSpace(out)), nil
}

// removed are elements without text that reads as part of a page.
var removed = []string{"button", "canvas", "embed", "form", "nav", "object", "select", "svg", "template"}

// prepare settles links and images before they are written.
func prepare(n *html.Node, links Links) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		prepare(c, links)
		switch c.DataAtom {
		case atom.A:
			if href := attr(c, "href"); href != "" {
				if to := links.Link(href); to != "" {
					setAttr(c, "href", to)
				} else {
					unwrap(c)
				}
			}
		case atom.Img:
			src := attr(c, "src")
			if to := ""; src != "" {
				if to = links.Image(src); to != "" {
					setAttr(c, "src", to)
					break
				}
			}
			text := &html.Node{Type: html.TextNode, Data: attr(c, "alt")}
			n.InsertBefore(text, c)
			n.RemoveChild(c)
		}
		c = next
	}
}

// unwrap puts a node's children in its place.
func unwrap(n *html.Node) {
	for n.FirstChild != nil {
		c := n.FirstChild
		n.RemoveChild(c)
		n.Parent.InsertBefore(c, n)
	}
	n.Parent.RemoveChild(n)
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}

func setAttr(n *html.Node, name, value string) {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			n.Attr[i].Val = value
		}
	}
}
