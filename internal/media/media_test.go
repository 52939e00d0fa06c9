package media

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const secret = "taken at 51.5N 0.1W by Ada"

// orientationSegment is an EXIF segment of a JPEG that says how to turn it.
func orientationSegment(turn int) []byte {
	return []byte{
		0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8,
		0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, byte(turn), 0, 0, 0, 0, 0, 0,
	}
}

// webpImage is a lossy image of 1 by 1 pixels.
func webpImage(t testing.TB) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// images of each format, with a secret in their metadata.
func images(t testing.TB) map[string][]byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 7, 5), palette.Plan9)
	var j, p, g bytes.Buffer
	for _, err := range []error{jpeg.Encode(&j, m, nil), png.Encode(&p, m), gif.EncodeAll(&g, &gif.GIF{Image: []*image.Paletted{m, m}, Delay: []int{1, 1}})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	comment := append([]byte{0xff, 0xfe, 0, byte(len(secret) + 2)}, secret...)
	preview := append([]byte{0xff, 0xe2, 0, byte(len(secret) + 6), 'M', 'P', 'F', 0}, secret...)
	withJPEG := append(append(append(bytes.Clone(j.Bytes()[:2]), comment...), preview...), j.Bytes()[2:]...)

	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(secret)))
	chunk = append(append(chunk, "tEXt"...), secret...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	withPNG := append(append(bytes.Clone(p.Bytes()[:33]), chunk...), p.Bytes()[33:]...)

	trailer := g.Len() - 1
	withGIF := append(append(bytes.Clone(g.Bytes()[:trailer]), 0x21, 0xfe, byte(len(secret))), secret...)
	withGIF = append(withGIF, 0, 0x3b)

	webp := append(webpImage(t), "XMP "...)
	webp = append(append(webp, byte(len(secret)), 0, 0, 0), secret...)
	binary.LittleEndian.PutUint32(webp[4:], uint32(len(webp)-8))
	return map[string][]byte{JPEG: withJPEG, PNG: withPNG, GIF: withGIF, WebP: webp}
}

func TestImagesLoseTheirMetadata(t *testing.T) {
	for mime, b := range images(t) {
		b = append(b, "PK\x03\x04 "+secret...) // also what follows the end
		if !bytes.Contains(b, []byte(secret)) {
			t.Fatalf("%s: the fixture has no secret", mime)
		}
		clean, i, err := Clean(b, true)
		if err != nil || i.MIME != mime {
			t.Errorf("%s: %+v, %v", mime, i, err)
			continue
		}
		if bytes.Contains(clean, []byte(secret)) || bytes.Contains(clean, []byte("PK\x03\x04")) {
			t.Errorf("%s: the secret is still there", mime)
		}
		if _, _, err := image.Decode(bytes.NewReader(clean)); err != nil {
			t.Errorf("%s: cleaned to something broken: %v", mime, err)
		}
		if again, _, err := Clean(clean, true); err != nil || !bytes.Equal(again, clean) {
			t.Errorf("%s: cleaning twice changes it: %v", mime, err)
		}
		if mime == GIF {
			if g, err := gif.DecodeAll(bytes.NewReader(clean)); err != nil || len(g.Image) != 2 {
				t.Errorf("an animation lost frames: %v", err)
			}
		}
		for n := range b { // cut short anywhere: an error, or an image, never a panic
			if c, _, err := Clean(b[:n], true); err == nil && bytes.Contains(c, []byte(secret)) {
				t.Errorf("%s: cut at %d keeps the secret", mime, n)
			}
		}
		for n := range len(b) { // any byte broken
			broken := bytes.Clone(b)
			broken[n] ^= 0xff
			Clean(broken, false)
		}
	}
}

// corner is a picture of 40 by 20 pixels that is red in its upper left quarter.
func corner() *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, 40, 20))
	for y := range 20 {
		for x := range 40 {
			c := color.RGBA{0, 0, 255, 255}
			if x < 20 && y < 10 {
				c = color.RGBA{255, 0, 0, 255}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func red(m image.Image, x, y int) bool {
	r, _, b, _ := m.At(x, y).RGBA()
	return r > b
}

func TestPicturesAreTurnedUpright(t *testing.T) {
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, corner(), &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	icc := make([]byte, 70_000) // more than one part
	copy(icc[16:], "RGB ")
	b := withJPEGProfile(plain.Bytes(), icc)
	// where the red corner must come to lie, by orientation
	for turn, right := range map[int][2]bool{1: {false, false}, 2: {true, false}, 3: {true, true}, 4: {false, true}, 5: {false, false}, 6: {true, false}, 7: {true, true}, 8: {false, true}} {
		turnedFile := append(append(bytes.Clone(b[:2]), orientationSegment(turn)...), b[2:]...)
		clean, i, err := Clean(turnedFile, true)
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := image.Decode(bytes.NewReader(clean))
		if err != nil {
			t.Fatal(err)
		}
		w, h := 40, 20
		if turn >= 5 {
			w, h = 20, 40
		}
		if m.Bounds().Dx() != w || m.Bounds().Dy() != h || i.Width != w || i.Height != h {
			t.Errorf("orientation %d: %v, %+v", turn, m.Bounds(), i)
			continue
		}
		x, y := 3, 3
		if right[0] {
			x = w - 4
		}
		if right[1] {
			y = h - 4
		}
		for _, p := range [][2]int{{3, 3}, {w - 4, 3}, {3, h - 4}, {w - 4, h - 4}} {
			if red(m, p[0], p[1]) != (p[0] == x && p[1] == y) {
				t.Errorf("orientation %d: wrong colour at %v", turn, p)
			}
		}
		if orientation(JPEG, clean) != 1 || !bytes.Equal(profile(JPEG, clean), icc) {
			t.Errorf("orientation %d: still to be turned, or the profile is lost", turn)
		}
		small, mime, err := Derive(clean, styles[0], Centre)
		if err != nil || !bytes.Equal(profile(mime, small), icc) {
			t.Errorf("a derived image lost its profile: %v", err)
		}
	}
}

func TestImagesRefused(t *testing.T) {
	huge := images(t)[PNG]
	binary.BigEndian.PutUint32(huge[16:], 100_000)
	binary.BigEndian.PutUint32(huge[20:], 100_000)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	if _, _, err := Clean(huge, true); !errors.Is(err, ErrTooLarge) {
		t.Errorf("10,000 megapixels: %v", err)
	}
	// a small canvas around a picture that says to be large
	large := webpImage(t)
	binary.LittleEndian.PutUint16(large[26:], 16383)
	binary.LittleEndian.PutUint16(large[28:], 16383)
	if _, _, err := Clean(large, true); !errors.Is(err, ErrTooLarge) {
		t.Errorf("large WebP: %v", err)
	}
	vp8x := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"), 0, 0, 0, 0, 6, 0, 0, 4, 0, 0)
	wrapped := append(vp8x, large[12:]...)
	binary.LittleEndian.PutUint32(wrapped[4:], uint32(len(wrapped)-8))
	if _, _, err := Clean(wrapped, true); !errors.Is(err, ErrDamaged) {
		t.Errorf("large picture in a small WebP: %v", err)
	}
	for name, b := range map[string]string{
		"SVG": `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`, "HTML": "<!doctype html><p>GIF89a", "nothing": "",
		"PDF": "%PDF-1.7", "a GIF's first bytes": "GIF89a", "WebP without size": "RIFF....WEBPVP8 ..........................",
	} {
		if _, err := CheckImage([]byte(b)); !errors.Is(err, ErrImage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDerived(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 1000, 400))
	for y := range 400 {
		for x := range 1000 {
			c := color.NRGBA{0, 0, 255, 255}
			if x >= 900 {
				c = color.NRGBA{255, 0, 0, 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	var p bytes.Buffer
	if err := png.Encode(&p, m); err != nil {
		t.Fatal(err)
	}
	thumbnail, _ := StyleNamed("thumbnail")
	for at, want := range map[Focus]bool{Centre: false, {0, 0}: false, {1, 1}: true, {0.95, 0.2}: true} {
		b, mime, err := Derive(p.Bytes(), thumbnail, at)
		if err != nil || mime != JPEG {
			t.Fatalf("%v %v", mime, err)
		}
		small, _, err := image.Decode(bytes.NewReader(b))
		if err != nil || small.Bounds().Dx() != 240 || small.Bounds().Dy() != 240 {
			t.Fatalf("%v, %v", small.Bounds(), err)
		}
		if red(small, 235, 120) != want {
			t.Errorf("focus %v: the red edge is in sight: %v", at, !want)
		}
	}
	for _, c := range []struct {
		style        string
		w, h         int
		wantW, wantH int
	}{
		{"wide", 1000, 400, 1000, 400}, {"wide", 3200, 1000, 1600, 500}, {"wide", 1000, 40_000, 80, 3200}, {"wide", 20_000, 1, 1600, 1},
		{"card", 1000, 400, 480, 270}, {"card", 100, 100, 100, 56}, {"thumbnail", 10, 5, 5, 5}, {"card", 0, 5, 0, 0},
	} {
		s, ok := StyleNamed(c.style)
		if w, h := s.Size(c.w, c.h); !ok || w != c.wantW || h != c.wantH {
			t.Errorf("%s of %d×%d: %d×%d", c.style, c.w, c.h, w, h)
		}
	}
	m.SetNRGBA(0, 0, color.NRGBA{})
	p.Reset()
	if err := png.Encode(&p, m); err != nil {
		t.Fatal(err)
	}
	if _, mime, err := Derive(p.Bytes(), thumbnail, Focus{0, 0}); err != nil || mime != PNG {
		t.Errorf("transparent: %v %v", mime, err)
	}
	if _, ok := StyleNamed("5000x5000"); ok {
		t.Error("a style of any size")
	}
}

// file writes content to a file for [Detect] and [Reader.Read].
func file(t testing.TB, content []byte) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "upload")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// archive is a ZIP file of entries, name and content in turn.
func archive(t testing.TB, entries ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.Create(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(entries[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDetect(t *testing.T) {
	all := images(t)
	many := make([]string, 0, 10_000)
	for n := range 4500 {
		many = append(many, fmt.Sprintf("word/%d.xml", n), "")
	}
	for _, c := range []struct {
		what, name string
		content    []byte
		mime       string
		err        error
	}{
		{"a JPEG by a wrong name", "report.pdf", all[JPEG], JPEG, nil},
		{"a PNG by a path", "../../etc/passwd\x00.png", all[PNG], PNG, nil},
		{"a GIF", "a.gif", all[GIF], GIF, nil},
		{"a WebP", "a.webp", all[WebP], WebP, nil},
		{"a PDF", "a.jpg", []byte("%PDF-1.7\n"), PDF, nil},
		{"Word", "a.docx", archive(t, "word/document.xml", "<w:document/>"), DOCX, nil},
		{"Word with macros", "a.docx", archive(t, "word/document.xml", "", "word/vbaProject.bin", ""), "", ErrMacros},
		{"another archive", "a.docx", archive(t, "evil.exe", "MZ"), "", ErrUnknown},
		{"too many entries", "a.docx", archive(t, many...), "", ErrDamaged},
		{"a cut archive", "a.docx", archive(t, "word/document.xml", strings.Repeat("x", 100))[:60], "", ErrDamaged},
		{"text", "notes", []byte("Opening hours: 9 to 5\n"), Text, nil},
		{"Markdown", "Notes.MD", []byte("# Hours\n"), Markdown, nil},
		{"Arabic", "a.txt", []byte(strings.Repeat("مواعيد العمل ", 20_000)), Text, nil},
		{"SVG", "a.png", []byte("<?xml version='1.0'?><svg onload='alert(1)'/>"), "", ErrUnknown},
		{"SVG as text", "a.txt", []byte("hello <svg onload=alert(1)>"), "", ErrUnknown},
		{"HTML", "a.txt", []byte(" \n<!DOCTYPE html><script>alert(1)</script>"), "", ErrUnknown},
		{"a program", "a.txt", []byte("MZ\x90\x00\x03"), "", ErrUnknown},
		{"bytes that are no text", "a.txt", []byte("caf\xe9"), "", ErrUnknown},
		{"text cut inside of a letter", "a.txt", []byte("caf\xc3"), "", ErrUnknown},
		{"nothing", "a.txt", nil, "", ErrUnknown},
		{"a video", "a.gif", []byte("RIFF\x00\x00\x00\x00AVI LIST"), "", ErrImage},
	} {
		i, err := Detect(file(t, c.content), c.name)
		if !errors.Is(err, c.err) || err == nil && i.MIME != c.mime {
			t.Errorf("%s: %q, %v", c.what, i.MIME, err)
		}
	}
}

// Whatever is accepted as an image is one, small enough, and stays as it is when it
// is cleaned again.
func FuzzClean(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe0"))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"))
	for _, b := range images(f) {
		f.Add(b)
		f.Add(append(append([]byte{}, b[:2]...), append(orientationSegment(6), b[2:]...)...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		clean, i, err := Clean(b, true)
		if err != nil {
			return
		}
		m, _, err := image.Decode(bytes.NewReader(clean))
		if err != nil || m.Bounds().Dx() != i.Width || m.Bounds().Dy() != i.Height || i.Width*i.Height > maxPixels {
			t.Fatalf("%+v: %v", i, err)
		}
		if again, _, err := Clean(clean, true); err != nil || !bytes.Equal(again, clean) {
			t.Fatalf("not stable: %v", err)
		}
	})
}
