package content

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the raster formats that are understood
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"time"

	"docent/db"
)

const (
	// FilePrefix starts the public address of every file.
	FilePrefix = "/files/"

	maxPixels = 40_000_000
)

// ErrImage means that something is not an image that may be shown.
var ErrImage = errors.New("is not a JPEG, PNG, GIF or WebP image")

// A File is something that content shows, kept in the data folder under its hash.
type File struct {
	ID        string    `db:"id"`
	Path      string    `db:"path"` // below FilePrefix
	Hash      string    `db:"hash"` // of the bytes kept, also their strong ETag
	MIME      string    `db:"mime"`
	Size      int64     `db:"size"` // bytes
	Width     int       `db:"width"`
	Height    int       `db:"height"`
	Origin    string    `db:"origin"`
	CreatedAt time.Time `db:"created_at"`
}

// CheckImage tells what kind of image the bytes are and how large, going by
// nothing but them. Images of more than 40 megapixels are refused unread.
func CheckImage(b []byte) (File, error) {
	var f File
	if w, h, ok := webpSize(b); ok {
		f.MIME, f.Width, f.Height = "image/webp", w, h
	} else {
		c, format, err := image.DecodeConfig(bytes.NewReader(b))
		if err != nil {
			return f, ErrImage
		}
		f.MIME, f.Width, f.Height = "image/"+format, c.Width, c.Height
	}
	if f.Width <= 0 || f.Height <= 0 {
		return f, ErrImage
	}
	if int64(f.Width)*int64(f.Height) > maxPixels {
		return f, fmt.Errorf("has more than %d megapixels", maxPixels/1_000_000)
	}
	return f, nil
}

// HasFiles reports whether the store has a folder to keep files in.
func (s *Store) HasFiles() bool { return s.opts.FilesDir != "" }

// PutImage keeps an image, without its metadata, under a path below [FilePrefix],
// in place of what was there. The same bytes again change nothing.
func (s *Store) PutImage(ctx context.Context, path, origin string, b []byte) (File, error) {
	f, err := CheckImage(b)
	if err != nil {
		return File{}, err
	}
	if b, err = stripMetadata(f.MIME, b); err != nil {
		return File{}, err
	}
	sum := sha256.Sum256(b)
	f.ID, f.Path, f.Origin, f.CreatedAt = newID(), path, origin, db.Now()
	f.Hash, f.Size = hex.EncodeToString(sum[:]), int64(len(b))
	if old, err := s.FileByPath(ctx, path); err == nil && old.Hash == f.Hash {
		if _, err := os.Stat(s.filename(f)); err == nil {
			return old, nil
		}
	}
	if err := s.keep(f, b); err != nil {
		return File{}, fmt.Errorf("keep file: %w", err)
	}
	return f, s.putFile(ctx, f)
}

// keep writes a file under its hash; a reader sees all of it or nothing.
func (s *Store) keep(f File, b []byte) error {
	name := s.filename(f)
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(b); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

func (s *Store) filename(f File) string {
	return filepath.Join(s.opts.FilesDir, f.Hash[:2], f.Hash)
}

// OpenFile opens what is kept of a file. The caller closes it.
func (s *Store) OpenFile(f File) (*os.File, error) {
	file, err := os.Open(s.filename(f))
	if errors.Is(err, os.ErrNotExist) {
		return nil, db.ErrNotFound
	}
	return file, err
}
