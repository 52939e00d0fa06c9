package handlers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"
)

// deadlines is a connection that knows until when it may be written to.
type deadlines struct {
	*httptest.ResponseRecorder
	until time.Time
	late  bool
}

func (d *deadlines) SetWriteDeadline(t time.Time) error { d.until = t; return nil }

func (d *deadlines) Write(b []byte) (int, error) {
	d.late = d.late || !time.Now().Before(d.until)
	return d.ResponseRecorder.Write(b)
}

func TestEventStreamBeatsOnlyWhenQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		s := newEventStream(echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", nil), w))
		written := func() string {
			s.mu.Lock()
			defer s.mu.Unlock()
			return w.Body.String()
		}
		beats := func() int { return strings.Count(written(), ":\n\n") }
		for range 100 { // long beyond the first deadline
			time.Sleep(heartbeatEvery - time.Second)
			if err := s.send("1", "", "a\rb"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if beats() != 0 {
			t.Errorf("%d heartbeats between events", beats())
		}
		time.Sleep(3*heartbeatEvery + time.Second)
		synctest.Wait()
		if beats() != 3 {
			t.Errorf("%d heartbeats in three times of quiet", beats())
		}
		s.mu.Lock()
		if w.late || !w.until.After(time.Now()) {
			t.Errorf("written behind the deadline: %v; it is at %v, now it is %v", w.late, w.until, time.Now())
		}
		s.mu.Unlock()
		s.close()
		length := len(written())
		time.Sleep(10 * heartbeatEvery)
		synctest.Wait()
		if len(written()) != length {
			t.Error("a closed stream was written to")
		}
		if got := written(); !strings.HasPrefix(got, ":"+strings.Repeat(" ", 1024)+"\n\nid: 1\ndata: a\ndata: b\n\n") {
			t.Errorf("began with %q", got[1000:min(len(got), 1100)])
		}
	})
}

// watchedWrites is a listener that counts what is written to its connections, and
// breaks off in the middle of a write when told to.
type watchedWrites struct {
	net.Listener
	n      atomic.Int64
	broken atomic.Bool
}

func (l *watchedWrites) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &watchedConn{c, l}, err
}

type watchedConn struct {
	net.Conn
	l *watchedWrites
}

func (c *watchedConn) Write(b []byte) (int, error) {
	c.l.n.Add(1)
	if c.l.broken.Load() {
		n, _ := c.Conn.Write(b[:len(b)/2])
		return n, io.ErrShortWrite
	}
	return c.Conn.Write(b)
}

// serveStreams serves an event stream and tells on what connections it does.
func serveStreams(t *testing.T, connections func(context.Context, net.Conn) context.Context, stream func(echo.Context, *eventStream, *watchedWrites)) *httptest.Server {
	t.Helper()
	e := echo.New()
	l := &watchedWrites{}
	e.Match([]string{http.MethodGet, http.MethodHead}, "/", func(c echo.Context) error {
		s := newEventStream(c)
		defer s.close()
		stream(c, s, l)
		return nil
	})
	server := httptest.NewUnstartedServer(e)
	l.Listener, server.Listener = server.Listener, l
	server.Config.ConnContext = connections
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// Behind net/http's back the bytes are what net/http would have written, each event
// takes one write, and the connection goes on to the next request.
func TestEventStreamWritesChunksItself(t *testing.T) {
	long := strings.Repeat("long ", 50_000)
	want := firstComment + "id: 0\ndata: one\n\nid: 1\ndata: " + long + "\n\nid: 2\ndata: two\ndata: lines\n\n"
	writes := make(chan int64, 20)
	three := func(_ echo.Context, s *eventStream, l *watchedWrites) {
		before := l.n.Load()
		for i, text := range []string{"one", long, "two\nlines"} {
			if err := s.send(fmt.Sprint(i), "", text); err != nil {
				t.Error(err)
			}
		}
		writes <- l.n.Load() - before
	}
	plain, direct := serveStreams(t, nil, three), serveStreams(t, Connections, three)
	for server, most := range map[*httptest.Server]int64{plain: 1000, direct: 3} {
		for range 3 {
			res, err := server.Client().Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || string(body) != want {
				t.Fatalf("%d bytes, %v", len(body), err)
			}
			if n := <-writes; n > most {
				t.Errorf("%d writes for three events", n)
			}
		}
	}
	// One connection for all, the way every client of HTTP/1.1 may do it. HEAD has no
	// body, HTTP/1.0 knows no chunks.
	c, err := net.Dial("tcp", direct.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for _, request := range []struct {
		method, version, body string
		chunked               bool
	}{{"GET", "1.1", want, true}, {"HEAD", "1.1", "", false}, {"GET", "1.1", want, true}, {"GET", "1.0", want, false}} {
		fmt.Fprintf(c, "%s / HTTP/%s\r\nHost: x\r\n\r\n", request.method, request.version)
		res, err := http.ReadResponse(in, &http.Request{Method: request.method})
		if err != nil {
			t.Fatalf("%v: %v", request, err)
		}
		if body, err := io.ReadAll(res.Body); err != nil || string(body) != request.body || (res.TransferEncoding != nil) != request.chunked {
			t.Errorf("%s HTTP/%s: %v, %d bytes, %v", request.method, request.version, res.TransferEncoding, len(body), err)
		}
	}
}

// After half a chunk nothing more goes out, and the request is over, even where
// net/http no longer listens to the client because it sent more than it was asked.
func TestEventStreamBreaksOff(t *testing.T) {
	ended := make(chan error, 1)
	begun := make(chan struct{})
	more := make(chan struct{})
	server := serveStreams(t, Connections, func(c echo.Context, s *eventStream, l *watchedWrites) {
		close(begun)
		<-more
		l.broken.Store(true)
		if s.send("1", "", strings.Repeat("long ", 1000)) == nil || s.send("2", "", "more") == nil {
			t.Error("sent after the connection broke")
		}
		select {
		case <-c.Request().Context().Done():
			ended <- nil
		case <-time.After(10 * time.Second):
			ended <- errors.New("the request goes on")
		}
	})
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-begun
	fmt.Fprint(c, "GET /")
	close(more)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	rest, _ := io.ReadAll(c)
	if _, after, _ := strings.Cut(string(rest), "id: 1"); strings.Contains(after, "\r\n") {
		t.Errorf("after half an event came %q", after[len(after)-20:])
	}
}
