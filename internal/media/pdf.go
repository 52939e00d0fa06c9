package media

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// pdfMemory is how much the program that reads a PDF may use: 64 KB each.
const pdfMemory = 256 << 20 / (64 << 10)

// readPDF has PDFium read a file. It runs as WebAssembly, without files, network or
// more memory than it is given, and ends with ctx: a PDF can do no more harm than
// to itself.
func (r *Reader) readPDF(ctx context.Context, f *os.File) (Writing, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pool, err := webassembly.Init(webassembly.Config{
		Context: ctx, MaxIdle: 1, MaxTotal: 1, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
		RuntimeConfig: wazero.NewRuntimeConfig().
			WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
			WithMemoryLimitPages(pdfMemory).WithCloseOnContextDone(true).WithCompilationCache(r.compiled),
	})
	if err != nil {
		return Writing{}, err
	}
	defer pool.Close()
	// Only now: what happens once, before, is not the file's doing.
	defer time.AfterFunc(maxReadTime, func() { cancel(ErrSlow) }).Stop()
	reader, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return Writing{}, cmp.Or(context.Cause(ctx), err)
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return Writing{}, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Writing{}, err
	}
	failed := func(err error) error { // what goes wrong from here on is the file's doing
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return errors.Join(ErrDamaged, err)
	}
	doc, err := reader.OpenDocument(&requests.OpenDocument{FileReader: f, FileReaderSize: size})
	if err != nil {
		return Writing{}, failed(err)
	}
	count, err := reader.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc.Document})
	if err != nil {
		return Writing{}, failed(err)
	}
	w := Writing{Cut: count.PageCount > maxPages}
	length := 0
	for i := range min(count.PageCount, maxPages) {
		page, err := reader.GetPageText(&requests.GetPageText{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: doc.Document, Index: i}}})
		if ctx.Err() != nil {
			return Writing{}, context.Cause(ctx)
		}
		text := ""
		if err == nil { // a page that is broken leaves the others as they are
			text = printed(page.Text)
		}
		if length += len(text); length > maxText {
			w.Cut = true
			break
		}
		w.Pages = append(w.Pages, text)
	}
	if strings.Join(w.Pages, "") == "" {
		w.Pages = nil
	}
	return w, nil
}
