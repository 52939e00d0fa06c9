package handlers

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	maxParts      = 1000
	maxFieldBytes = 8 << 20 // of all fields of a form together
	uploadTime    = 15 * time.Minute
)

// parts is a multipart form, read as it comes: files never lie in memory.
type parts struct {
	reader *multipart.Reader
	values url.Values      // the fields so far
	file   *multipart.Part // read ahead: the first one
	count  int
	bytes  int64
}

const partsKey = "multipart form"

// parts returns the multipart form of a request, with the fields before its first
// file. Forms of other types have fields alone.
func (h *Handlers) parts(c echo.Context) (*parts, error) {
	if p, ok := c.Get(partsKey).(*parts); ok {
		return p, nil
	}
	if bodyKind(c.Request()) != multipartBody {
		values, err := postedForm(c)
		return &parts{values: values}, err
	}
	reader, err := c.Request().MultipartReader()
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "")
	}
	p := &parts{reader: reader, values: url.Values{}}
	p.file, err = p.next()
	if err != nil && err != io.EOF {
		return nil, err
	}
	c.Set(partsKey, p)
	return p, nil
}

// next returns the next file, and [io.EOF] after the last. The fields before it
// are in values by then.
func (p *parts) next() (*multipart.Part, error) {
	if p.reader == nil {
		return nil, io.EOF
	}
	if ahead := p.file; ahead != nil {
		p.file = nil
		return ahead, nil
	}
	for {
		part, err := p.reader.NextPart()
		if err == io.EOF {
			p.reader = nil
			return nil, io.EOF
		}
		if p.count++; err != nil || p.count > maxParts {
			return nil, badBody(err)
		}
		if part.FileName() != "" {
			return part, nil
		}
		// A file field without a file has an empty name, and is a field.
		value, err := io.ReadAll(io.LimitReader(part, maxFieldBytes-p.bytes+1))
		if err != nil {
			return nil, badBody(err)
		}
		if p.bytes += int64(len(value)); p.bytes > maxFieldBytes {
			return nil, &http.MaxBytesError{Limit: maxFieldBytes}
		}
		p.values.Add(part.FormName(), string(value))
	}
}

func badBody(err error) error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	return refuse(http.StatusBadRequest, "")
}

// patient gives a request the time that a large file takes on a slow line.
func patient(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		until := time.Now().Add(uploadTime)
		control := http.NewResponseController(c.Response())
		if err := errors.Join(control.SetReadDeadline(until), control.SetWriteDeadline(until.Add(time.Minute))); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		return next(c)
	}
}
