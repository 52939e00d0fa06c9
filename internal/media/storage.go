package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
)

// ErrTooBig means that a file has more bytes than are taken.
var ErrTooBig = errors.New("is too large")

// A Storage is a folder of files, each under the hash of its bytes, so that the
// same bytes are there once. Public files are for everybody; who may read private
// ones is for others to decide.
type Storage struct {
	dir      string
	deriving singleflight.Group
	slots    chan struct{} // images being decoded, which takes memory
}

// The folders of a storage.
const (
	publicDir  = "public"
	privateDir = "private"
	derivedDir = "derived"
)

// NewStorage returns the storage in a folder, which is made when it is needed.
func NewStorage(dir string) *Storage { return &Storage{dir: dir, slots: make(chan struct{}, 2)} }

// A Received is a file that was taken in.
type Received struct {
	Info
	Hash string // of the bytes kept
	Size int64  // bytes kept
}

// Receive keeps a private file of at most limit(its type) bytes, which it writes to disk as
// it comes. Images are cleaned, see [Clean]. What is refused leaves nothing behind.
func (s *Storage) Receive(ctx context.Context, r io.Reader, name string, limit func(mime string) int64) (Received, error) {
	f, err := s.temporary(privateDir)
	if err != nil {
		return Received{}, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	most := max(limit(JPEG), limit(PDF))
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(r, most+1))
	if err != nil {
		return Received{}, err
	}
	if n > most {
		return Received{}, ErrTooBig
	}
	got := Received{Size: n}
	if got.Info, err = Detect(f, name); err != nil {
		return got, err
	}
	if n > limit(got.MIME) {
		return got, ErrTooBig
	}
	if got.IsImage() {
		return s.receiveImage(ctx, f, got)
	}
	got.Hash = hex.EncodeToString(sum.Sum(nil))
	return got, s.place(f, got.Hash, privateDir)
}

func (s *Storage) receiveImage(ctx context.Context, f *os.File, got Received) (Received, error) {
	b := make([]byte, got.Size)
	if _, err := f.ReadAt(b, 0); err != nil {
		return got, err
	}
	var err error
	if err = s.decoding(ctx, func() error { b, got.Info, err = Clean(b, true); return err }); err != nil {
		return got, err
	}
	got.Size = int64(len(b))
	got.Hash, err = s.Put(b, true)
	return got, err
}

// decoding runs work that takes much memory, when there is room for it.
func (s *Storage) decoding(ctx context.Context, work func() error) error {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.slots }()
	return work()
}

// Put keeps bytes and returns their hash. A reader sees all of them or nothing.
func (s *Storage) Put(b []byte, private bool) (hash string, err error) {
	sum := sha256.Sum256(b)
	hash = hex.EncodeToString(sum[:])
	f, err := s.temporary(folder(private))
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		return "", err
	}
	return hash, s.place(f, hash, folder(private))
}

func folder(private bool) string {
	if private {
		return privateDir
	}
	return publicDir
}

func (s *Storage) temporary(folder string) (*os.File, error) {
	dir := filepath.Join(s.dir, folder)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	return os.CreateTemp(dir, ".new-*")
}

// place gives a temporary file its name, which makes it part of the storage.
func (s *Storage) place(f *os.File, name, folder string) error {
	to := s.path(folder, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.Name(), to)
}

func (s *Storage) path(folder, name string) string {
	return filepath.Join(s.dir, folder, name[:2], name)
}

// Open opens a file; one that is not there is [fs.ErrNotExist]. The caller closes it.
func (s *Storage) Open(hash string, private bool) (*os.File, error) {
	if !isHash(hash) {
		return nil, fs.ErrNotExist
	}
	return os.Open(s.path(folder(private), hash))
}

func isHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

// Derived opens an image as a style shows it, which is made when it is asked for
// first, once, however many ask. The caller closes it.
func (s *Storage) Derived(ctx context.Context, hash string, private bool, style Style, at Focus) (f *os.File, mime string, err error) {
	if !isHash(hash) {
		return nil, "", fs.ErrNotExist
	}
	name := fmt.Sprintf("%s-%s-%.3f-%.3f", hash, style.Name, at.X, at.Y)
	f, err = os.Open(s.path(derivedDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		// Whoever waits for it gets it, even when the first to ask has left.
		_, err, _ = s.deriving.Do(name, func() (any, error) {
			return nil, s.derive(context.WithoutCancel(ctx), name, hash, private, style, at)
		})
		if err == nil {
			f, err = os.Open(s.path(derivedDir, name))
		}
	}
	if err != nil {
		return nil, "", err
	}
	start := make([]byte, 4)
	if _, err := f.ReadAt(start, 0); err != nil {
		f.Close()
		return nil, "", err
	}
	if bytes.Equal(start, []byte("\x89PNG")) {
		return f, PNG, nil
	}
	return f, JPEG, nil
}

func (s *Storage) derive(ctx context.Context, name, hash string, private bool, style Style, at Focus) error {
	source, err := s.Open(hash, private)
	if err != nil {
		return err
	}
	defer source.Close()
	return s.decoding(ctx, func() error {
		b, err := io.ReadAll(source)
		if err != nil {
			return err
		}
		out, _, err := Derive(b, style, at)
		if err != nil {
			return err
		}
		f, err := s.temporary(derivedDir)
		if err != nil {
			return err
		}
		defer os.Remove(f.Name())
		defer f.Close()
		if _, err := f.Write(out); err != nil {
			return err
		}
		return s.place(f, name, derivedDir)
	})
}

// Sweep deletes files, and what was made of them, that keep says are not needed,
// unless they are younger than a time: they may just be on their way in.
func (s *Storage) Sweep(younger time.Time, keep func(hash string, private bool) (bool, error)) error {
	for _, dir := range []string{publicDir, privateDir, derivedDir} {
		err := filepath.WalkDir(filepath.Join(s.dir, dir), func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if err != nil || info.ModTime().After(younger) {
				return nil
			}
			hash, _, _ := strings.Cut(d.Name(), "-")
			if isHash(hash) {
				needed, err := keep(hash, dir == privateDir)
				if dir == derivedDir && err == nil && !needed {
					needed, err = keep(hash, true)
				}
				if err != nil || needed {
					return err
				}
			} else if !strings.HasPrefix(d.Name(), ".new-") {
				return nil
			}
			return os.Remove(name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A Folder is a part of the storage, and what keeps it from being written to.
type Folder struct {
	Path string
	Err  error
}

// Folders tries to write to each part of the storage.
func (s *Storage) Folders() []Folder {
	var out []Folder
	for _, dir := range []string{publicDir, privateDir, derivedDir} {
		f, err := s.temporary(dir)
		if err == nil {
			_, err = f.WriteString("Docent")
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
		out = append(out, Folder{filepath.Join(s.dir, dir), err})
	}
	return out
}
