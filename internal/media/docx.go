package media

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

const (
	documentEntry = "word/document.xml"
	maxXML        = 64 << 20 // bytes, unpacked
	maxDepth      = 256      // elements within each other
)

// readDOCX reads the paragraphs, headings, lists and tables of a Word document.
func readDOCX(ctx context.Context, f *os.File, until time.Time) (Writing, error) {
	z, err := openZip(f)
	if err != nil {
		return Writing{}, err
	}
	var entry *zip.File
	for _, e := range z.File {
		if strings.EqualFold(e.Name, documentEntry) {
			entry = e
			break
		}
	}
	if entry == nil {
		return Writing{}, ErrUnknown
	}
	r, err := entry.Open()
	if err != nil {
		return Writing{}, ErrDamaged
	}
	defer r.Close()
	limited := &io.LimitedReader{R: r, N: maxXML}
	d := docx{decoder: xml.NewDecoder(limited), until: until}
	err = d.read(ctx)
	switch {
	case ctx.Err() != nil:
		return Writing{}, ctx.Err()
	case errors.Is(err, ErrSlow):
		return Writing{}, ErrSlow
	case err != nil && limited.N > 0:
		return Writing{}, ErrDamaged
	}
	text := strings.TrimSpace(d.out.String())
	w := Writing{Cut: d.cut || limited.N <= 0}
	if text != "" {
		w.Pages = []string{text}
	}
	return w, nil
}

// docx is a document on its way to Markdown.
type docx struct {
	decoder *xml.Decoder
	until   time.Time
	out     strings.Builder
	cut     bool

	text    strings.Builder // of the paragraph
	heading int             // its level, 0 for none
	item    bool            // it stands in a list
	reading bool            // inside of a run's text
	tables  int             // within each other
	cells   []string        // of the outer table's row
	cell    strings.Builder
	rows    int
}

func (d *docx) read(ctx context.Context) error {
	depth := 0
	for n := 0; ; n++ {
		if n%1000 == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if time.Now().After(d.until) {
				return ErrSlow
			}
		}
		token, err := d.decoder.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == "Fallback" { // what stands beside it says the same
				if err := d.decoder.Skip(); err != nil {
					return err
				}
				continue
			}
			if depth++; depth > maxDepth {
				return ErrDamaged
			}
			d.start(t)
		case xml.EndElement:
			depth--
			d.end(t.Name.Local)
		case xml.CharData:
			if d.reading {
				d.text.Write(t)
			}
		}
		if d.out.Len()+d.text.Len()+d.cell.Len() > maxText {
			d.cut = true
			return nil
		}
	}
}

func (d *docx) start(t xml.StartElement) {
	switch t.Name.Local {
	case "p":
		d.text.Reset()
		d.heading, d.item = 0, false
	case "pStyle":
		d.heading = headingLevel(value(t))
	case "numPr":
		d.item = true
	case "t":
		d.reading = true
	case "tab", "br", "cr":
		if d.text.Len() > 0 { // tab stops are named the same
			d.text.WriteByte(' ')
		}
	case "tbl":
		if d.tables++; d.tables == 1 {
			d.rows = 0
			d.out.WriteByte('\n')
		}
	case "tr":
		if d.tables == 1 {
			d.cells = d.cells[:0]
		}
	case "tc":
		if d.tables == 1 {
			d.cell.Reset()
		}
	}
}

func (d *docx) end(name string) {
	switch name {
	case "t":
		d.reading = false
	case "p":
		d.paragraph()
	case "tc":
		if d.tables == 1 {
			d.cells = append(d.cells, strings.TrimSpace(d.cell.String()))
		}
	case "tr":
		if d.tables == 1 {
			d.row()
		}
	case "tbl":
		if d.tables--; d.tables == 0 {
			d.out.WriteByte('\n')
		}
	}
}

func (d *docx) paragraph() {
	text := strings.Join(strings.Fields(d.text.String()), " ")
	d.text.Reset()
	switch {
	case text == "":
	case d.tables > 0:
		d.cell.WriteString(escape(text) + " ")
	case d.heading > 0:
		d.out.WriteString("\n" + strings.Repeat("#", d.heading) + " " + escape(text) + "\n\n")
	case d.item:
		d.out.WriteString("- " + escape(text) + "\n")
	default:
		d.out.WriteString(escape(text) + "\n\n")
	}
}

func (d *docx) row() {
	if len(d.cells) == 0 {
		return
	}
	d.out.WriteString("| " + strings.Join(d.cells, " | ") + " |\n")
	if d.rows++; d.rows == 1 {
		d.out.WriteString("|" + strings.Repeat(" --- |", len(d.cells)) + "\n")
	}
}

func value(t xml.StartElement) string {
	for _, a := range t.Attr {
		if a.Name.Local == "val" {
			return a.Value
		}
	}
	return ""
}

// headingLevel is the level, from 2, that a style stands for: the document's own
// title is level 1.
func headingLevel(style string) int {
	style = strings.ToLower(style)
	if style == "title" {
		return 2
	}
	level, ok := strings.CutPrefix(style, "heading")
	if !ok || len(level) != 1 || level[0] < '1' || level[0] > '5' {
		return 0
	}
	return int(level[0]-'0') + 1
}
