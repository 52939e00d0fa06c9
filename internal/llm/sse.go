package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

const (
	maxLine  = 1 << 20 // bytes of one line of a stream
	maxWhole = 8 << 20 // bytes of an answer that is not a stream
)

var (
	errLongLine = errors.New("a line of the stream is longer than 1 MiB")
	errBadChunk = errors.New("the stream holds data that is not JSON")
)

// eventReader reads the JSON payloads of an event stream. It is laxer than the
// standard where servers are: a payload ends with its JSON value, so missing
// blank lines do no harm, and a body that is one plain JSON value counts as a
// single payload.
type eventReader struct {
	r     *bufio.Reader
	touch func() // called for every line, comments included
	begun bool
	done  bool // [DONE] was seen
}

func newEventReader(r io.Reader, touch func()) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 32<<10), touch: touch}
}

// next returns the next payload, or io.EOF at the end of the stream.
func (e *eventReader) next() ([]byte, error) {
	if !e.begun {
		e.begun = true
		if whole, err := e.plain(); whole != nil || err != nil {
			return whole, err
		}
	}
	var payload []byte
	for !e.done {
		line, err := e.line()
		if err != nil && len(line) == 0 {
			if err == io.EOF && len(payload) > 0 {
				return nil, errBadChunk
			}
			return nil, err
		}
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		switch {
		case isData:
			payload = append(payload, bytes.TrimSpace(data)...)
			if string(payload) == "[DONE]" {
				e.done = true
				return nil, io.EOF
			}
			if json.Valid(payload) {
				return payload, nil
			}
			if len(payload) > maxLine {
				return nil, errLongLine
			}
			if len(payload) > 0 {
				payload = append(payload, '\n')
			}
		case len(line) == 0 && len(payload) > 0:
			return nil, errBadChunk
		}
	}
	return nil, io.EOF
}

// plain returns the whole body when it is JSON instead of an event stream.
func (e *eventReader) plain() ([]byte, error) {
	if bom, _ := e.r.Peek(3); string(bom) == "\uFEFF" {
		e.r.Discard(3)
	}
	for {
		b, err := e.r.Peek(1)
		if err != nil {
			return nil, err
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n':
			e.r.Discard(1)
		case '{', '[':
			whole, err := io.ReadAll(io.LimitReader(e.r, maxWhole+1))
			if err != nil {
				return nil, err
			}
			if len(whole) > maxWhole || !json.Valid(whole) {
				return nil, errBadChunk
			}
			return whole, nil
		default:
			return nil, nil
		}
	}
}

// line returns the next line without its end. The last line may lack one.
func (e *eventReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := e.r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, errLongLine
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		e.touch()
		return bytes.TrimRight(line, "\r\n"), err
	}
}
