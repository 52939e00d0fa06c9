package handlers

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	heartbeatEvery = 15 * time.Second
	// A client that takes nothing for this long is gone; its goroutine must not
	// wait for it for ever.
	writeTimeout = 30 * time.Second
)

// An eventStream writes server-sent events, each with one write and one flush. A
// comment goes out at once and whenever nothing else did for a while, so that
// proxies keep the connection open.
type eventStream struct {
	w  http.ResponseWriter
	rc *http.ResponseController

	mu   sync.Mutex
	buf  bytes.Buffer
	err  error
	beat *time.Ticker
	done chan struct{}
	idle sync.WaitGroup
}

// newEventStream sends the header. From here on errors can only be events.
func newEventStream(c echo.Context) *eventStream {
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Del("Content-Length")
	c.Response().WriteHeader(http.StatusOK)
	s := &eventStream{w: c.Response(), rc: http.NewResponseController(c.Response()), beat: time.NewTicker(heartbeatEvery), done: make(chan struct{})}
	// Some proxies wait for a first kilobyte before they pass anything on.
	s.comment(strings.Repeat(" ", 1024))
	s.idle.Go(func() {
		for {
			select {
			case <-s.beat.C:
				s.comment("")
			case <-s.done:
				return
			}
		}
	})
	return s
}

// close ends the heartbeat. The handler calls it before it returns.
func (s *eventStream) close() {
	close(s.done)
	s.beat.Stop()
	s.idle.Wait()
}

func (s *eventStream) comment(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.WriteString(":" + text + "\n\n")
	s.flush()
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// send writes one event. An empty id or name is left out. Every line of data gets
// its own field, so no text can end the event or begin another.
func (s *eventStream) send(id, name, data string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != "" {
		fmt.Fprintf(&s.buf, "id: %s\n", id)
	}
	if name != "" {
		fmt.Fprintf(&s.buf, "event: %s\n", name)
	}
	for line := range strings.SplitSeq(newlines.Replace(data), "\n") {
		s.buf.WriteString("data: ")
		s.buf.WriteString(line)
		s.buf.WriteByte('\n')
	}
	s.buf.WriteByte('\n')
	s.beat.Reset(heartbeatEvery)
	return s.flush()
}

func (s *eventStream) flush() error {
	defer s.buf.Reset()
	if s.err != nil {
		return s.err
	}
	// The server's own write timeout would cut a long answer off; this one moves.
	if err := s.rc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		s.err = err
	} else if _, err := s.w.Write(s.buf.Bytes()); err != nil {
		s.err = err
	} else {
		s.err = s.rc.Flush()
	}
	return s.err
}
