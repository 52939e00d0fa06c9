package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
)

// boundary returns the block that the unsettled part of src starts with and
// the offset of its first line; every block before it is closed for good.
//
// CommonMark works line by line and never opens a closed block again. So once
// the first line of a new top-level block is complete, all blocks before it
// are settled, and parsing again from that line gives the same result. Blank
// lines are neither needed nor enough.
func boundary(src []byte, doc ast.Node) (first ast.Node, cut int) {
	for n := doc.LastChild(); n != nil; n = n.PreviousSibling() {
		p := lineStart(src, n.Pos())
		if bytes.IndexByte(src[p:], '\n') < 0 {
			continue // "text\n-" looks like a heading and may become a list
		}
		prev := n.PreviousSibling()
		if prev != nil && lineStart(src, prev.Pos()) == p {
			continue // lines above a table's header: two blocks from one source range
		}
		return n, p
	}
	return doc.FirstChild(), 0
}

func lineStart(src []byte, p int) int {
	return bytes.LastIndexByte(src[:min(max(p, 0), len(src))], '\n') + 1
}
