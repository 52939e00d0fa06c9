package content

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"testing"

	"docent/db"
	"docent/db/dbtest"
)

const secret = "taken at 51.5N 0.1W by Ada"

// images of each format, with a secret in their metadata.
func images(t *testing.T) map[string][]byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 7, 5), palette.Plan9)
	var j, p, g bytes.Buffer
	for _, err := range []error{jpeg.Encode(&j, m, nil), png.Encode(&p, m), gif.EncodeAll(&g, &gif.GIF{Image: []*image.Paletted{m, m}, Delay: []int{1, 1}})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	exif := append(orientationSegment(6), secret...)
	binary.BigEndian.PutUint16(exif[2:], uint16(len(exif)-2))
	comment := append([]byte{0xff, 0xfe, 0, byte(len(secret) + 2)}, secret...)
	withJPEG := append(append(append(bytes.Clone(j.Bytes()[:2]), exif...), comment...), j.Bytes()[2:]...)

	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(secret)))
	chunk = append(append(chunk, "tEXt"...), secret...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	withPNG := append(append(bytes.Clone(p.Bytes()[:33]), chunk...), p.Bytes()[33:]...)

	trailer := g.Len() - 1
	withGIF := append(append(bytes.Clone(g.Bytes()[:trailer]), 0x21, 0xfe, byte(len(secret))), secret...)
	withGIF = append(withGIF, 0, 0x3b)

	vp8x := append([]byte("VP8X\x0a\x00\x00\x00"), 0x0c, 0, 0, 0, 6, 0, 0, 4, 0, 0)
	webp := append([]byte("RIFF\x00\x00\x00\x00WEBP"), vp8x...)
	webp = append(append(append(webp, "EXIF"...), byte(len(secret)), 0, 0, 0), secret...)
	return map[string][]byte{"image/jpeg": withJPEG, "image/png": withPNG, "image/gif": withGIF, "image/webp": webp}
}

func TestImagesLoseTheirMetadata(t *testing.T) {
	for mime, b := range images(t) {
		f, err := CheckImage(b)
		if err != nil || f.MIME != mime || f.Width != 7 || f.Height != 5 {
			t.Errorf("%s: %+v, %v", mime, f, err)
		}
		if !bytes.Contains(b, []byte(secret)) {
			t.Fatalf("%s: the fixture has no secret", mime)
		}
		stripped, err := stripMetadata(mime, b)
		if err != nil || bytes.Contains(stripped, []byte(secret)) {
			t.Errorf("%s: the secret is still there: %v", mime, err)
		}
		if f, err := CheckImage(stripped); err != nil || f.Width != 7 {
			t.Errorf("%s: stripped to %+v, %v", mime, f, err)
		}
		if mime != "image/webp" {
			if _, _, err := image.Decode(bytes.NewReader(stripped)); err != nil {
				t.Errorf("%s: stripped to something broken: %v", mime, err)
			}
		}
		if mime == "image/jpeg" && exifOrientation(stripped[2+4:]) != 6 {
			t.Error("how to turn the picture is lost")
		}
		if mime == "image/gif" {
			if g, err := gif.DecodeAll(bytes.NewReader(stripped)); err != nil || len(g.Image) != 2 {
				t.Errorf("an animation lost frames: %v", err)
			}
		}
		for n := range b { // cut short anywhere: an error, or an image, never a panic
			if f, err := CheckImage(b[:n]); err == nil {
				stripMetadata(f.MIME, b[:n])
			}
		}
	}
}

func TestImagesRefused(t *testing.T) {
	huge := images(t)["image/png"]
	binary.BigEndian.PutUint32(huge[16:], 100_000)
	binary.BigEndian.PutUint32(huge[20:], 100_000)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	if _, err := CheckImage(huge); err == nil || errors.Is(err, ErrImage) {
		t.Errorf("10,000 megapixels: %v", err)
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

func TestFiles(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := New(d, Options{FilesDir: t.TempDir()})
		b := images(t)["image/png"]
		first, err := s.PutImage(t.Context(), "a/b.png", "import:a/b.png", b)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.PutImage(t.Context(), "a/b.png", "import:a/b.png", b)
		if err != nil || again.ID != first.ID {
			t.Errorf("the same again: %+v, %v", again, err)
		}
		if _, err := s.PutImage(t.Context(), "a/b.png", "", images(t)["image/gif"]); err != nil {
			t.Fatal(err)
		}
		f, err := s.FileByPath(t.Context(), "a/b.png")
		if err != nil || f.MIME != "image/gif" || f.Origin != "" {
			t.Errorf("replaced: %+v, %v", f, err)
		}
		r, err := s.OpenFile(f)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if kept, err := io.ReadAll(r); err != nil || int64(len(kept)) != f.Size || bytes.Contains(kept, []byte(secret)) {
			t.Errorf("kept %d bytes of %d: %v", len(kept), f.Size, err)
		}
		if _, err := s.FileByPath(t.Context(), "a/../b.png"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("unknown path: %v", err)
		}
		if _, err := s.OpenFile(File{Hash: "00ff"}); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("unknown hash: %v", err)
		}
	})
}
