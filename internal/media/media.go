// Package media reads images and documents that nobody vouches for: what they
// are, what they look like in other sizes and what they say.
package media

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

// The media types that are understood.
const (
	JPEG     = "image/jpeg"
	PNG      = "image/png"
	GIF      = "image/gif"
	WebP     = "image/webp"
	PDF      = "application/pdf"
	DOCX     = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	Text     = "text/plain"
	Markdown = "text/markdown"
)

// maxPixels bounds what is decoded: 40 megapixels take 160 MB at most.
const maxPixels = 40_000_000

var (
	// ErrUnknown means that something is of no kind that is understood.
	ErrUnknown = errors.New("is not an image (JPEG, PNG, GIF, WebP) or a document (PDF, DOCX, plain text, Markdown)")
	// ErrImage means that something is not an image that may be shown.
	ErrImage = errors.New("is not a JPEG, PNG, GIF or WebP image")
	// ErrDamaged means that something is cut short or broken.
	ErrDamaged = errors.New("is damaged or cut short")
	// ErrAnimated means that an image moves in a format that can only be shown still.
	ErrAnimated = errors.New("is an animated WebP image, which is not supported; use GIF")
	// ErrMacros means that a document holds programs.
	ErrMacros = errors.New("holds macros, which are not accepted")
	// ErrSlow means that reading something takes longer than it is given.
	ErrSlow = errors.New("takes too long to read")
	// ErrTooLarge means that an image has more pixels than are decoded.
	ErrTooLarge = fmt.Errorf("has more than %d megapixels", maxPixels/1_000_000)
)

// Info is what a file turned out to be.
type Info struct {
	MIME          string
	Width, Height int // of an image, in pixels
}

// IsImage reports whether the file can be shown as a picture.
func (i Info) IsImage() bool { return strings.HasPrefix(i.MIME, "image/") }

// Extension is the usual ending of the names of files of a kind, with its dot.
func Extension(mime string) string {
	switch mime {
	case JPEG:
		return ".jpg"
	case PNG:
		return ".png"
	case GIF:
		return ".gif"
	case WebP:
		return ".webp"
	case PDF:
		return ".pdf"
	case DOCX:
		return ".docx"
	case Markdown:
		return ".md"
	case Text:
		return ".txt"
	}
	return ""
}

// Detect tells what a file is, going by nothing but its content; the name decides
// only whether a text is Markdown. Nothing of it is decoded.
func Detect(f *os.File, name string) (Info, error) {
	start := make([]byte, 1<<10)
	n, err := f.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return Info{}, err
	}
	start = start[:n]
	switch {
	case bytes.HasPrefix(start, []byte("\xff\xd8\xff")), bytes.HasPrefix(start, []byte("\x89PNG\r\n\x1a\n")),
		bytes.HasPrefix(start, []byte("GIF8")), bytes.HasPrefix(start, []byte("RIFF")):
		size, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return Info{}, err
		}
		return imageInfo(io.NewSectionReader(f, 0, size), start)
	case bytes.HasPrefix(start, []byte("%PDF-")):
		return Info{MIME: PDF}, nil
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return Info{MIME: DOCX}, checkDOCX(f)
	}
	if err := checkText(f, start); err != nil {
		return Info{}, err
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return Info{MIME: Markdown}, nil
	}
	return Info{MIME: Text}, nil
}

// checkText reports whether a file is text for people: UTF-8 without control
// characters, and no markup that a browser could take for a page.
func checkText(f *os.File, start []byte) error {
	head := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(start, []byte("\xef\xbb\xbf"))))
	if len(head) == 0 || bytes.Contains(head, []byte("<svg")) {
		return ErrUnknown
	}
	for _, markup := range []string{"<!doctype", "<html", "<?xml", "<head", "<body", "<script", "%!ps"} {
		if bytes.HasPrefix(head, []byte(markup)) {
			return ErrUnknown
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	kept := 0
	for {
		n, err := f.Read(buf[kept:])
		b := buf[:kept+n]
		for len(b) > 0 {
			r, size := utf8.DecodeRune(b)
			if r == utf8.RuneError && size <= 1 {
				if err == nil && !utf8.FullRune(b) {
					break
				}
				return ErrUnknown
			}
			if r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' || r == 0x7f {
				return ErrUnknown
			}
			b = b[size:]
		}
		kept = copy(buf, b)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Limits of an archive whose directory is read.
const (
	maxEntries   = 4000
	maxDirectory = 4 << 20 // bytes
)

// checkDOCX reports whether an archive is a Word document without macros.
func checkDOCX(f *os.File) error {
	z, err := openZip(f)
	if err != nil {
		return err
	}
	found := false
	for _, entry := range z.File {
		switch strings.ToLower(entry.Name) {
		case documentEntry:
			found = true
		case "word/vbaproject.bin":
			return ErrMacros
		}
	}
	if !found {
		return ErrUnknown
	}
	return nil
}

// openZip reads an archive's directory, which must not be larger than a document needs.
func openZip(f *os.File) (*zip.Reader, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if err := checkDirectory(f, size); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(f, size)
	if err != nil || len(z.File) > maxEntries {
		return nil, ErrDamaged
	}
	return z, nil
}

// checkDirectory reads how large an archive says that its directory is, which
// would be read whole.
func checkDirectory(f *os.File, size int64) error {
	tail := make([]byte, min(size, 66<<10))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	at := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if at < 0 || at+20 > len(tail) {
		return ErrDamaged
	}
	entries := uint32(tail[at+10]) | uint32(tail[at+11])<<8
	directory := uint32(tail[at+12]) | uint32(tail[at+13])<<8 | uint32(tail[at+14])<<16 | uint32(tail[at+15])<<24
	if entries > maxEntries || directory > maxDirectory { // also what says that larger numbers stand elsewhere
		return ErrDamaged
	}
	return nil
}
