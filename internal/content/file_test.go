package content

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"sync"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/media"
)

// picture is a PNG of a size, in one colour.
func picture(t testing.TB, w, h int, c color.Color) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImportedImages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := New(d, Options{FilesDir: t.TempDir()})
		b := picture(t, 7, 5, color.Black)
		first, err := s.PutImage(t.Context(), "a/b.png", "import:a/b.png", b)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.PutImage(t.Context(), "a/b.png", "import:a/b.png", b)
		if err != nil || again.ID != first.ID {
			t.Errorf("the same again: %+v, %v", again, err)
		}
		if _, err := s.PutImage(t.Context(), "a/b.png", "", picture(t, 9, 9, color.White)); err != nil {
			t.Fatal(err)
		}
		f, err := s.FileByPath(t.Context(), "a/b.png")
		if err != nil || f.Width != 9 || f.Origin != "" || f.Private || f.ID != first.ID {
			t.Errorf("replaced: %+v, %v", f, err)
		}
		if err := s.MayRead(t.Context(), account.Account{}, f); err != nil {
			t.Errorf("an imported image is not for everybody: %v", err)
		}
		r, err := s.OpenFile(f)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if kept, err := io.ReadAll(r); err != nil || int64(len(kept)) != f.Size {
			t.Errorf("kept %d bytes of %d: %v", len(kept), f.Size, err)
		}
		if _, err := s.FileByPath(t.Context(), "a/../b.png"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("unknown path: %v", err)
		}
		for _, hash := range []string{"00ff", "", "../../../../etc/passwd", strings.Repeat("0", 64)} {
			if _, err := s.OpenFile(File{Hash: hash}); !errors.Is(err, db.ErrNotFound) {
				t.Errorf("unknown hash %q: %v", hash, err)
			}
		}
	})
}

func TestUpload(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := New(d, Options{FilesDir: t.TempDir(), UploadLimit: func(mime string) int64 {
			if mime == media.PDF {
				return 4000
			}
			return 2000
		}})
		upload := func(name string, b []byte) (File, error) {
			return s.Upload(t.Context(), editor, Upload{Name: name, Body: bytes.NewReader(b)})
		}
		b := picture(t, 20, 10, color.Black)
		f, err := upload(`..\..\C:\evil/../Opening "hours"`+"\x00\n.php.png", b)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name != "opening-hours-php.png" || f.Path != f.ID+"/"+f.Name || !f.Private {
			t.Errorf("%+v", f)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				again, err := upload("another.jpg", b)
				if err != nil || again.ID != f.ID {
					t.Errorf("the same bytes again: %+v, %v", again, err)
				}
			})
		}
		wg.Wait()
		var jpg bytes.Buffer
		m, _, _ := image.Decode(bytes.NewReader(b))
		if err := jpeg.Encode(&jpg, m, nil); err != nil {
			t.Fatal(err)
		}
		if f, err := upload("wrong.gif", jpg.Bytes()); err != nil || f.MIME != media.JPEG || f.Name != "wrong.jpg" {
			t.Errorf("a wrong ending: %+v, %v", f, err)
		}
		for name, c := range map[string]struct {
			b   []byte
			err error
		}{
			"evil.svg": {[]byte("<svg onload='alert(1)'/>"), media.ErrUnknown}, "cut.png": {b[:len(b)-20], media.ErrDamaged},
			"empty": {nil, media.ErrUnknown}, "large.txt": {bytes.Repeat([]byte("word "), 500), media.ErrTooBig},
			"larger.pdf": {append([]byte("%PDF-"), make([]byte, 5000)...), media.ErrTooBig},
		} {
			_, err := upload(name, c.b)
			refused, ok := errors.AsType[*InvalidError](err)
			if !ok || refused.Fields["file"] != c.err.Error() {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := s.Upload(t.Context(), visitor, Upload{Name: "a.png", Body: bytes.NewReader(b)}); !errors.Is(err, ErrForbidden) {
			t.Errorf("a visitor: %v", err)
		}
		broken := io.MultiReader(bytes.NewReader(b[:30]), errReader{})
		if _, err := s.Upload(t.Context(), editor, Upload{Name: "a.png", Body: broken}); err == nil || refusedFile(err) != "" {
			t.Errorf("a connection that breaks: %v", err)
		}
	})
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestFileNames(t *testing.T) {
	for name, want := range map[string]string{
		"": "file.pdf", ".": "file.pdf", "..": "file.pdf", "/": "file.pdf", "\x00": "file.pdf", ".htaccess": "file.pdf",
		"Annual_Report 2026.PDF": "annual-report-2026.pdf", "تقرير.docx": "تقرير.pdf", "a\xff.pdf": "a.pdf", "CON": "con.pdf",
		strings.Repeat("é", 300): strings.Repeat("é", 50) + ".pdf", "x\u202efdp.exe": "x-fdp.pdf",
	} {
		if got := FileName(name, media.PDF); got != want {
			t.Errorf("%q becomes %q, not %q", name, got, want)
		}
	}
	if got := FileTitle("/tmp/Annual_Report 2026.pdf"); got != "Annual Report 2026" {
		t.Error(got)
	}
}

func TestDerivatives(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := New(d, Options{FilesDir: t.TempDir()})
		f, err := s.Upload(t.Context(), editor, Upload{Name: "a.png", Body: bytes.NewReader(picture(t, 1000, 500, color.Black))})
		if err != nil {
			t.Fatal(err)
		}
		card := f.Derivative("card")
		if card.Width != 480 || card.Height != 270 || !strings.HasPrefix(card.URL, "/files/styles/card/"+f.ID+"/") {
			t.Errorf("%+v", card)
		}
		large := f.Derivative("card-large")
		if want := card.URL + " 480w, " + large.URL + " 889w"; f.Srcset("card") != want {
			t.Errorf("srcset: %s", f.Srcset("card"))
		}
		if again := f.Derivative("no such"); again.URL != f.URL() || again.Width != 1000 {
			t.Errorf("no such style: %+v", again)
		}
		moving := f
		moving.MIME = media.GIF
		if d := moving.Derivative("wide-small"); d.URL != f.URL() || d.Width != 800 || moving.Srcset("wide") != "" || moving.Derivative("card").URL == f.URL() {
			t.Errorf("an image that may move: %+v %q", d, moving.Srcset("wide"))
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				r, mime, err := s.OpenDerivative(t.Context(), f, "card")
				if err != nil || mime != media.JPEG {
					t.Errorf("%v, %v", mime, err)
					return
				}
				defer r.Close()
				if c, _, err := image.DecodeConfig(r); err != nil || c.Width != card.Width || c.Height != card.Height {
					t.Errorf("%+v, %v", c, err)
				}
			})
		}
		wg.Wait()
		if _, _, err := s.OpenDerivative(t.Context(), f, "2000x2000"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("any size: %v", err)
		}
		if err := s.SetFocus(t.Context(), f, media.Focus{X: 0.1, Y: 1}, false); err != nil {
			t.Fatal(err)
		}
		moved, err := s.File(t.Context(), f.ID)
		if err != nil || moved.FocusX != 0.1 || moved.Derivative("card").URL == card.URL {
			t.Errorf("%+v, %v", moved, err)
		}
		for _, x := range []float64{-0.1, 1.1} {
			if err := s.SetFocus(t.Context(), f, media.Focus{X: x}, false); err == nil {
				t.Errorf("a focus at %v", x)
			}
		}
	})
}
