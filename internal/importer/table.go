package importer

import (
	"bytes"
	"strconv"
	"strings"
)

// A table is an HTML table on its way to rows of text.
type table struct {
	rows  [][]string
	spans map[int]span // cells that reach down into the next rows, by column
	block bool         // a cell holds a code block
}

// A span repeats a cell's text in the rows below.
type span struct {
	rows int
	text string
}

var tableParts = set("tr td th caption")

const maxColumns = 50

func (c *converter) openTable(end int) {
	if c.cells > 0 { // a table in a cell is text
		c.nested++
		c.space()
		return
	}
	if c.lastClose("table") < end {
		return
	}
	c.paragraph()
	c.push(frame{name: "table", table: &table{spans: map[int]span{}}}, end)
}

// innermostTable returns the table being read, nil outside of one.
func (c *converter) innermostTable() *table {
	for i := len(c.stack) - 1; i >= 0; i-- {
		if c.stack[i].table != nil {
			return c.stack[i].table
		}
	}
	return nil
}

// innermostCell is where the content of the cell being read starts.
func (c *converter) innermostCell() int {
	for i := len(c.stack) - 1; i >= 0; i-- {
		if n := c.stack[i].name; n == "td" || n == "th" {
			return c.stack[i].start
		}
	}
	return 0
}

// openCell handles rows, cells and captions.
func (c *converter) openCell(name string, t tag, end int) {
	tab := c.innermostTable()
	if tab == nil || c.nested > 0 {
		c.space()
		return
	}
	for _, part := range []string{"td", "th", "caption"} { // authors leave closing tags out
		if i := c.openFrame(part); i >= 0 {
			for len(c.stack) > i {
				c.pop()
			}
		}
	}
	switch name {
	case "tr":
		tab.rows = append(tab.rows, nil)
		return
	case "caption":
		c.push(frame{name: name, lines: true}, end)
		return
	}
	if len(tab.rows) == 0 {
		tab.rows = append(tab.rows, nil)
	}
	c.stack = append(c.stack, frame{name: name, attrs: t.attrs, start: len(c.out), lines: true})
	c.folding++
	c.cells++
}

// closeCell moves what was written in a cell into its row.
func (c *converter) closeCell(f frame) {
	if f.name == "caption" {
		c.out = append(bytes.TrimRight(c.out, " "), "\n\n"...)
		return
	}
	c.cells--
	tab := c.innermostTable()
	text := strings.TrimSpace(string(c.out[f.start:]))
	c.out = c.out[:f.start]
	if tab == nil {
		return
	}
	tab.block = tab.block || f.block
	row := &tab.rows[len(tab.rows)-1]
	tab.fillSpans(row)
	columns, rows := number(f.attrs["colspan"]), number(f.attrs["rowspan"])
	for n := range columns {
		cell := text
		if n > 0 {
			cell = ""
		}
		if rows > 1 {
			tab.spans[len(*row)] = span{rows: rows - 1, text: cell}
		}
		if len(*row) < maxColumns {
			*row = append(*row, cell)
		}
	}
}

// fillSpans adds the cells that reach down from rows above.
func (t *table) fillSpans(row *[]string) {
	for len(*row) < maxColumns {
		s, ok := t.spans[len(*row)]
		if !ok {
			return
		}
		if s.rows--; s.rows > 0 {
			t.spans[len(*row)] = s
		} else {
			delete(t.spans, len(*row))
		}
		*row = append(*row, s.text)
	}
}

// number reads a span attribute.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, maxColumns)
}

// closeTable writes the rows: as a table, or as paragraphs when there is one
// column only or a cell holds a code block.
func (c *converter) closeTable(f frame) {
	var rows [][]string
	width := 0
	for _, row := range f.table.rows {
		if strings.TrimSpace(strings.Join(row, "")) == "" {
			continue
		}
		rows = append(rows, row)
		width = max(width, len(row))
	}
	c.paragraph()
	var b strings.Builder
	switch {
	case len(rows) == 0:
	case width == 1 || f.table.block || len(rows) == 1 && c.cells == 0 && width < 3:
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" {
					b.WriteString(cell + "\n\n")
				}
			}
		}
	default:
		for i, row := range rows {
			for n := range width {
				cell := ""
				if n < len(row) {
					cell = strings.Join(strings.Fields(row[n]), " ")
				}
				b.WriteString("| " + strings.ReplaceAll(strings.ReplaceAll(cell, `\|`, "|"), "|", `\|`) + " ")
			}
			b.WriteString("|\n")
			if i == 0 {
				b.WriteString(strings.Repeat("| --- ", width) + "|\n")
			}
		}
		b.WriteByte('\n')
	}
	c.out = append(c.out, b.String()...)
}
