package media

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// printedFile is a PDF of pages with a few lines each.
func printedFile(pages ...string) []byte {
	var b bytes.Buffer
	var at []int
	object := func(format string, args ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(at))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("\nendobj\n")
	}
	b.WriteString("%PDF-1.4\n")
	var kids []string
	for n := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*n))
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(pages))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for n, page := range pages {
		var draw strings.Builder
		draw.WriteString("BT /F1 12 Tf 14 TL 72 720 Td\n")
		for line := range strings.Lines(page) {
			fmt.Fprintf(&draw, "(%s) Tj T*\n", strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(strings.TrimSpace(line)))
		}
		draw.WriteString("ET")
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", 5+2*n)
		object("<< /Length %d >>\nstream\n%s\nendstream", draw.Len(), draw.String())
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.Bytes()
}

func TestPDF(t *testing.T) {
	r, err := NewReader(filepath.Join(os.TempDir(), "docent-test-pdf")) // takes long to make: kept between tests
	if err != nil {
		t.Fatal(err)
	}
	b := printedFile("Visiting the museum\nThe museum opens at nine in the morning and closes at five in the\nafternoon.", "Prices\nAdults pay 12 euros [reduced: 8]")
	w, err := r.Read(t.Context(), file(t, b), PDF)
	if err != nil || len(w.Pages) != 2 || w.Cut {
		t.Fatalf("%+v, %v", w, err)
	}
	if want := "Visiting the museum\n\nThe museum opens at nine in the morning and closes at five in the\nafternoon."; w.Pages[0] != want {
		t.Errorf("page 1: %q", w.Pages[0])
	}
	if !strings.Contains(w.Pages[1], `\[reduced: 8\]`) {
		t.Errorf("page 2: %q", w.Pages[1])
	}
	if w, err := r.Read(t.Context(), file(t, printedFile("", "")), PDF); err != nil || w.Pages != nil {
		t.Errorf("a scan: %+v, %v", w, err)
	}
	for name, broken := range map[string][]byte{
		"cut": b[:200], "only a start": []byte("%PDF-1.7"), "noise": append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("obj<<>>stream"), 5000)...),
	} {
		if w, err := r.Read(t.Context(), file(t, broken), PDF); err == nil && len(w.Pages) > 0 {
			t.Errorf("%s: %+v", name, w)
		}
	}
	// a page tree that holds itself, and pages without end
	loop := bytes.Replace(b, []byte("/Kids [4 0 R 6 0 R] /Count 2"), []byte("/Kids [2 0 R 2 0 R] /Count 9"), 1)
	start := time.Now()
	if _, err := r.Read(t.Context(), file(t, loop), PDF); err == nil {
		t.Log("a tree that holds itself was read")
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("a tree that holds itself took %v", took)
	}
	// a page that unpacks to more than there is memory for
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	spaces := bytes.Repeat([]byte(" "), 1<<20)
	for range 400 {
		z.Write(spaces)
	}
	z.Close()
	bomb := bytes.Replace(printedFile("x"), []byte("stream\nBT /F1 12 Tf 14 TL 72 720 Td\n(x) Tj T*\nET\nendstream"),
		fmt.Appendf(nil, "stream\n%s\nendstream", packed.Bytes()), 1)
	bomb = regexp.MustCompile(`<< /Length \d+ >>`).ReplaceAll(bomb, fmt.Appendf(nil, "<< /Filter /FlateDecode /Length %d >>", packed.Len()))
	start = time.Now()
	if w, err := r.Read(t.Context(), file(t, bomb), PDF); err == nil && w.Pages != nil {
		t.Errorf("a bomb says %v", w.Pages)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("a bomb took %v", took)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Read(ended, file(t, b), PDF); err == nil {
		t.Error("read although nobody waits")
	}
}

const wordStart = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`

func TestDOCX(t *testing.T) {
	r, err := NewReader("")
	if err != nil {
		t.Fatal(err)
	}
	doc := wordStart + `
		<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Opening hours</w:t></w:r></w:p>
		<w:p><w:r><w:t xml:space="preserve">We open at </w:t></w:r><w:r><w:t>nine</w:t><w:delText>ten</w:delText></w:r><w:r><w:tab/><w:t>*daily*</w:t></w:r></w:p>
		<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>First</w:t></w:r></w:p>
		<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Second</w:t></w:r></w:p>
		<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Day</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Hours</w:t></w:r></w:p></w:tc></w:tr>
		<w:tr><w:tc><w:p><w:r><w:t>Monday</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>9–17</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
		</w:body></w:document>`
	w, err := r.Read(t.Context(), file(t, archive(t, documentEntry, doc)), DOCX)
	want := "## Opening hours\n\nWe open at nine \\*daily\\*\n\n- First\n- Second\n\n| Day | Hours |\n| --- | --- |\n| Monday | 9–17 |"
	if err != nil || len(w.Pages) != 1 || w.Pages[0] != want {
		t.Errorf("%q, %v", w.Pages, err)
	}
	bomb := wordStart + "<w:p><w:r><w:t>" + strings.Repeat("A", maxXML+1000) + "</w:t></w:r></w:p></w:body></w:document>"
	packed := archive(t, documentEntry, bomb)
	if len(packed) > 1<<20 {
		t.Fatalf("the bomb has %d bytes", len(packed))
	}
	if w, err := r.Read(t.Context(), file(t, packed), DOCX); err != nil || !w.Cut {
		t.Errorf("a bomb: cut %v, %v", w.Cut, err)
	}
	deep := wordStart + strings.Repeat("<w:p>", 100_000)
	if _, err := r.Read(t.Context(), file(t, archive(t, documentEntry, deep)), DOCX); !errors.Is(err, ErrDamaged) {
		t.Errorf("deep: %v", err)
	}
	entities := `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>` + "<a><w:p><w:t>&b;</w:t></w:p></a>"
	if w, err := r.Read(t.Context(), file(t, archive(t, documentEntry, entities)), DOCX); err == nil {
		t.Errorf("entities: %+v", w)
	}
}

func TestPlainText(t *testing.T) {
	r, err := NewReader("")
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.Read(t.Context(), file(t, []byte("\ufeff1. Hours\r\n\r\n# not a heading\r\n- point\r\n<b>")), Text)
	if want := "1\\. Hours\n\n\\# not a heading\n- point\n\\<b\\>"; err != nil || w.Pages[0] != want {
		t.Errorf("%q, %v", w.Pages, err)
	}
	long, err := r.Read(t.Context(), file(t, []byte(strings.Repeat("عربي ", maxText/5))), Markdown)
	if err != nil || !long.Cut || len(long.Pages[0]) > maxText {
		t.Errorf("long: %v %v", long.Cut, err)
	}
}
