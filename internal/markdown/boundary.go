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
	if end := fenceEnd(src, doc.LastChild()); end > 0 {
		return nil, end
	}
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

// fenceEnd returns the offset behind the closing line of a fence that n, the last
// block, is; 0 if the fence is still open or n is none. Code is the one block that
// says itself where it ends.
func fenceEnd(src []byte, n ast.Node) int {
	if n == nil || n.Kind() != ast.KindFencedCodeBlock {
		return 0
	}
	open := max(n.Pos(), 0)
	if lines := n.Lines(); lines.Len() > 0 {
		open = lines.At(lines.Len()-1).Stop - 1
	}
	line := bytes.IndexByte(src[open:], '\n') + 1
	if line == 0 {
		return 0
	}
	// An open fence would have taken the line behind its last one as its own.
	closing := bytes.IndexByte(src[open+line:], '\n') + 1
	if closing == 0 {
		return 0
	}
	return open + line + closing
}
