package content

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"docent/db"
	"docent/internal/account"
	"docent/internal/media"
)

const (
	// FilePrefix starts the public address of every file.
	FilePrefix = "/files/"
	// StylePrefix starts the address of images in other sizes, below [FilePrefix].
	StylePrefix = FilePrefix + "styles/"

	maxFileName = 100 // characters
)

// A File is something that content shows, kept in the data folder under its hash.
type File struct {
	ID         string    `db:"id"`
	Path       string    `db:"path"` // below FilePrefix
	Name       string    `db:"name"` // that it is downloaded under
	Hash       string    `db:"hash"` // of the bytes kept, also their strong ETag
	MIME       string    `db:"mime"`
	Size       int64     `db:"size"` // bytes
	Width      int       `db:"width"`
	Height     int       `db:"height"`
	Origin     string    `db:"origin"`
	Private    bool      `db:"private"`    // who may read it follows from what holds it
	Standalone bool      `db:"standalone"` // media that holds it is found without a page that shows it
	FocusX     float64   `db:"focus_x"`
	FocusY     float64   `db:"focus_y"`
	CreatedAt  time.Time `db:"created_at"`
}

// IsImage reports whether the file can be shown as a picture.
func (f File) IsImage() bool { return media.Info{MIME: f.MIME}.IsImage() }

// URL is the file's address.
func (f File) URL() string { return FilePrefix + (&url.URL{Path: f.Path}).EscapedPath() }

// Focus is the point of an image that stays in sight when it is cut.
func (f File) Focus() media.Focus { return media.Focus{X: f.FocusX, Y: f.FocusY} }

// A Derivative is an image as a style shows it.
type Derivative struct {
	URL           string
	Width, Height int // pixels
}

// Derivative returns an image as a style shows it. The address changes with what is
// shown, so browsers may keep it. A style that does not exist shows the image as it is.
func (f File) Derivative(style string) Derivative {
	s, ok := media.StyleNamed(style)
	if !ok || f.Hash == "" {
		return Derivative{f.URL(), f.Width, f.Height}
	}
	w, h := s.Size(f.Width, f.Height)
	if f.movesIn(s) {
		return Derivative{f.URL(), w, h}
	}
	return Derivative{StylePrefix + s.Name + "/" + f.ID + "/" + f.version(), w, h}
}

// movesIn reports whether an image may move, which it does only as it is: it is
// shown so where nothing has to be cut.
func (f File) movesIn(s media.Style) bool { return f.MIME == media.GIF && !s.Crop }

// Srcset lists an image in the sizes of a style and its larger counterpart, as
// the attribute of that name wants it.
func (f File) Srcset(style string) string {
	if s, ok := media.StyleNamed(style); ok && f.movesIn(s) {
		return ""
	}
	var out []string
	last := 0
	for _, name := range media.StyleSizes(style) {
		if d := f.Derivative(name); d.Width > last {
			out = append(out, d.URL+" "+strconv.Itoa(d.Width)+"w")
			last = d.Width
		}
	}
	return strings.Join(out, ", ")
}

// version tells apart what an image's derivatives are made from.
func (f File) version() string {
	return f.Hash[:16] + "-" + strconv.Itoa(int(f.FocusX*1000)) + "-" + strconv.Itoa(int(f.FocusY*1000))
}

// HasFiles reports whether the store has a folder to keep files in.
func (s *Store) HasFiles() bool { return s.opts.FilesDir != "" }

// PutImage keeps an image for everybody, without its metadata, under a path below
// [FilePrefix], in place of what was there. The same bytes again change nothing.
func (s *Store) PutImage(ctx context.Context, path, origin string, b []byte) (File, error) {
	b, info, err := media.Clean(b, false)
	if err != nil {
		return File{}, err
	}
	hash, err := s.files.Put(b, false)
	if err != nil {
		return File{}, err
	}
	if old, err := s.FileByPath(ctx, path); err == nil && old.Hash == hash {
		return old, nil
	}
	f := File{
		ID: newID(), Path: path, Hash: hash, MIME: info.MIME, Size: int64(len(b)), Width: info.Width, Height: info.Height,
		Origin: origin, Standalone: true, FocusX: media.Centre.X, FocusY: media.Centre.Y, CreatedAt: db.Now(),
	}
	if err := s.putFile(ctx, f); err != nil {
		return File{}, err
	}
	return s.FileByPath(ctx, path)
}

// An Upload is a file that somebody sends.
type Upload struct {
	Name       string    // as the sender calls it
	Body       io.Reader // read as it comes
	Standalone bool      // media that holds it is found without a page that shows it
}

// Upload keeps a file, which whoever sent it may then use in fields; until then,
// and unless it is used within a day, nobody else sees it. Somebody who sends the
// same bytes gets the same file. It returns [ErrForbidden] for accounts that make
// no content and [*InvalidError] about "file" for what is refused.
func (s *Store) Upload(ctx context.Context, who account.Account, up Upload) (File, error) {
	may, err := s.mayUpload(ctx, who)
	if err != nil {
		return File{}, err
	}
	if !may {
		return File{}, ErrForbidden
	}
	got, err := s.files.Receive(ctx, up.Body, up.Name, s.opts.UploadLimit)
	if refusal := refusedFile(err); refusal != "" {
		return File{}, invalid("file", refusal)
	}
	if err != nil {
		return File{}, err
	}
	f := File{
		ID: newID(), Name: FileName(up.Name, got.MIME), Hash: got.Hash, MIME: got.MIME, Size: got.Size, Width: got.Width, Height: got.Height,
		Private: true, Standalone: up.Standalone, FocusX: media.Centre.X, FocusY: media.Centre.Y, CreatedAt: db.Now(),
	}
	f.Path = f.ID + "/" + f.Name
	err = s.d.InTx(ctx, func(tx *db.DB) error {
		if err := s.In(tx).insertUpload(ctx, &f); err != nil {
			return err
		}
		if f.IsImage() {
			return nil
		}
		return s.opts.OnUpload(ctx, tx, f)
	})
	return f, err
}

// refusedFile is why a file is not accepted, "" when err says something else.
func refusedFile(err error) string {
	for _, known := range []error{media.ErrUnknown, media.ErrImage, media.ErrAnimated, media.ErrDamaged, media.ErrMacros, media.ErrTooLarge, media.ErrTooBig} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return ""
}

// FileName is a name for a file of a type, made of how somebody called it: without
// folders and with nothing in it that could be taken for more than a name.
func FileName(name, mime string) string {
	return cmp.Or(Slug(truncate(FileTitle(name), maxFileName)), "file") + media.Extension(mime)
}

// FileTitle is the name of a file without its folder and ending, for people.
func FileTitle(name string) string {
	name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, ""), `\`, "/"))
	name = strings.TrimSuffix(name, path.Ext(name))
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '/' {
			return -1
		}
		if r == '_' {
			return ' '
		}
		return r
	}, name)
	return truncate(strings.Join(strings.Fields(strings.Trim(name, ". ")), " "), maxTitle)
}

// OpenFile opens what is kept of a file. Whether somebody may read it is for
// [Store.MayRead] to say. The caller closes it.
func (s *Store) OpenFile(f File) (*os.File, error) {
	file, err := s.files.Open(f.Hash, f.Private)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, db.ErrNotFound
	}
	return file, err
}

// OpenDerivative opens an image as a style shows it, with its media type. Like
// [Store.OpenFile] it asks nobody.
func (s *Store) OpenDerivative(ctx context.Context, f File, style string) (file *os.File, mime string, err error) {
	named, ok := media.StyleNamed(style)
	if !ok || !f.IsImage() {
		return nil, "", db.ErrNotFound
	}
	file, mime, err = s.files.Derived(ctx, f.Hash, f.Private, named, f.Focus())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", db.ErrNotFound
	}
	return file, mime, err
}

// FileFolders tells which folders files are kept in, and what keeps them from
// being written to.
func (s *Store) FileFolders() []media.Folder { return s.files.Folders() }

// UploadLimit is how many bytes an upload of a type may have.
func (s *Store) UploadLimit(mime string) int64 { return s.opts.UploadLimit(mime) }
