package handlers

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	heartbeatEvery = 15 * time.Second
	// A client that takes nothing for this long, or a little less, is gone; its
	// goroutine must not wait for it for ever.
	writeTimeout = 30 * time.Second
)

// An eventStream writes server-sent events, each with one write and one flush. A
// comment goes out at once and whenever nothing else did for a while, so that
// proxies keep the connection open. Thousands of streams wait at a time: while it
// is idle a stream holds no buffer and no goroutine of its own.
type eventStream struct {
	w  http.ResponseWriter
	rc *http.ResponseController

	mu     sync.Mutex
	err    error
	closed bool
	beat   *time.Timer
	wrote  time.Time // last
	due    time.Time // when a write would fail
}

// newEventStream sends the header. From here on errors can only be events.
func newEventStream(c echo.Context) *eventStream {
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Del("Content-Length")
	c.Response().WriteHeader(http.StatusOK)
	s := &eventStream{w: c.Response(), rc: http.NewResponseController(c.Response())}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beat = time.AfterFunc(heartbeatEvery, s.heartbeat)
	s.write([]byte(firstComment))
	return s
}

// Some proxies wait for a first kilobyte before they pass anything on.
var firstComment = ":" + strings.Repeat(" ", 1024) + "\n\n"

// close ends the heartbeat. The handler calls it before it returns.
func (s *eventStream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.beat.Stop()
}

func (s *eventStream) heartbeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	// Events do not put the timer off: that would cost each of them more than it does
	// to look once how long there was none.
	if quiet := time.Since(s.wrote); quiet < heartbeatEvery {
		s.beat.Reset(heartbeatEvery - quiet)
		return
	}
	s.write([]byte(":\n\n"))
	s.beat.Reset(heartbeatEvery)
}

// send writes one event. An empty id or name is left out.
func (s *eventStream) send(id, name, data string) error {
	b := buffers.Get().(*bytes.Buffer)
	defer putBuffer(b)
	b.Reset()
	writeEvent(b, id, name, data)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(b.Bytes())
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// writeEvent puts every line of data into a field of its own, so that no text can
// end the event or begin another.
func writeEvent(b *bytes.Buffer, id, name, data string) {
	if id != "" {
		b.WriteString("id: " + id + "\n")
	}
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	if strings.Contains(data, "\r") {
		data = newlines.Replace(data)
	}
	for line := range strings.SplitSeq(data, "\n") {
		b.WriteString("data: ")
		b.WriteString(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

func (s *eventStream) write(event []byte) error {
	if s.err != nil {
		return s.err
	}
	s.wrote = time.Now()
	// The server's own write timeout would cut a long answer off; this one moves, not
	// with every event.
	if s.due.Sub(s.wrote) < writeTimeout*2/3 {
		s.due = s.wrote.Add(writeTimeout)
		s.err = s.rc.SetWriteDeadline(s.due)
	}
	if s.err == nil {
		_, s.err = s.w.Write(event)
	}
	if s.err == nil {
		s.err = s.rc.Flush()
	}
	return s.err
}
