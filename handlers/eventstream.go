package handlers

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"net"
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

// An eventStream writes server-sent events, each as soon as it is there. A comment
// goes out at once and whenever nothing else did for a while, so that proxies keep
// the connection open. Thousands of streams wait at a time: while it is idle a stream
// holds no buffer and no goroutine of its own.
type eventStream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	conn net.Conn // takes chunks of the body, see Connections; nil when w must

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
	s.write(func(b *bytes.Buffer) { b.WriteString(firstComment) })
	s.conn = chunkedConnection(c)
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
	s.write(func(b *bytes.Buffer) { b.WriteString(":\n\n") })
	s.beat.Reset(heartbeatEvery)
}

// send writes one event. An empty id or name is left out.
func (s *eventStream) send(id, name, data string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(func(b *bytes.Buffer) { writeEvent(b, id, name, data) })
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// writeEvent puts every line of data into a field of its own, so that no text can
// end the event or begin another.
func writeEvent(b *bytes.Buffer, id, name, data string) {
	if id != "" {
		b.WriteString("id: ")
		b.WriteString(id)
		b.WriteByte('\n')
	}
	if name != "" {
		b.WriteString("event: ")
		b.WriteString(name)
		b.WriteByte('\n')
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

// write sends what put writes.
func (s *eventStream) write(put func(*bytes.Buffer)) error {
	if s.err != nil {
		return s.err
	}
	s.wrote = time.Now()
	// The server's own write timeout would cut a long answer off; this one moves, not
	// with every event.
	if s.due.Sub(s.wrote) < writeTimeout*2/3 {
		s.due = s.wrote.Add(writeTimeout)
		if s.err = s.rc.SetWriteDeadline(s.due); s.err != nil {
			return s.err
		}
	}
	b := buffers.Get().(*bytes.Buffer)
	defer putBuffer(b)
	b.Reset()
	if s.conn != nil {
		writeChunk(b, put)
		if _, s.err = s.conn.Write(b.Bytes()); s.err != nil {
			s.conn.Close() // nothing may follow half a chunk
			// net/http learns of it from a write of its own, and ends the request's context.
			s.w.Write([]byte{'\n'})
			s.rc.Flush()
		}
		return s.err
	}
	put(b)
	if _, s.err = s.w.Write(b.Bytes()); s.err == nil {
		s.err = s.rc.Flush()
	}
	return s.err
}

type connectionKey struct{}

// Connections is an [http.Server.ConnContext]. With it event streams write their
// chunks to the connection themselves, which spares each event two buffers of
// net/http: a sixth of what it costs when ten thousand listen. Without it they
// work the same.
func Connections(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// chunkedConnection returns the connection that takes the chunks of a response
// without a length, if its body goes out in chunks and nobody between rewrites it.
// After a flush net/http holds nothing back; at the end it writes the last chunk, and
// the connection serves the next request.
func chunkedConnection(c echo.Context) net.Conn {
	r := c.Request()
	_, wrapped := c.Response().Writer.(interface{ Unwrap() http.ResponseWriter })
	if wrapped || r.Method == http.MethodHead || r.ProtoMajor != 1 || r.ProtoMinor < 1 {
		return nil
	}
	conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
	return conn
}

// writeChunk writes what put writes, which must not be nothing, as a chunk (RFC 9112,
// section 7.1). Its size has eight digits, so that it can be filled in afterwards.
func writeChunk(b *bytes.Buffer, put func(*bytes.Buffer)) {
	const head = len("00000000\r\n")
	b.WriteString("00000000\r\n")
	put(b)
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(b.Len()-head))
	hex.Encode(b.Bytes(), size[:])
	b.WriteString("\r\n")
}
