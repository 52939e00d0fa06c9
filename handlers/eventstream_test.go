package handlers

import (
	"bufio"
	"context"
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

// countedWrites is a listener whose connections count what is written to them.
type countedWrites struct {
	net.Listener
	n atomic.Int64
}

func (l *countedWrites) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &countedConn{c, &l.n}, err
}

type countedConn struct {
	net.Conn
	n *atomic.Int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.n.Add(1)
	return c.Conn.Write(b)
}

// serveThree serves a stream of three events, one of them long, and says how many
// writes went to the connection for them.
func serveThree(t *testing.T, connections func(context.Context, net.Conn) context.Context) (server *httptest.Server, writes chan int64) {
	t.Helper()
	e := echo.New()
	writes = make(chan int64, 10)
	l := &countedWrites{}
	e.GET("/", func(c echo.Context) error {
		s := newEventStream(c)
		defer s.close()
		before := l.n.Load()
		for i, text := range []string{"one", strings.Repeat("long ", 50_000), "two\nlines"} {
			if err := s.send(fmt.Sprint(i), "", text); err != nil {
				t.Error(err)
			}
		}
		writes <- l.n.Load() - before
		return nil
	})
	server = httptest.NewUnstartedServer(e)
	l.Listener, server.Listener = server.Listener, l
	server.Config.ConnContext = connections
	server.Start()
	t.Cleanup(server.Close)
	return server, writes
}

// Behind net/http's back the bytes are what net/http would have written, each event
// takes one write, and the connection goes on to the next request.
func TestEventStreamWritesChunksItself(t *testing.T) {
	want := firstComment + "id: 0\ndata: one\n\nid: 1\ndata: " + strings.Repeat("long ", 50_000) + "\n\nid: 2\ndata: two\ndata: lines\n\n"
	plain, _ := serveThree(t, nil)
	direct, writes := serveThree(t, Connections)
	for _, server := range []*httptest.Server{plain, direct} {
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
		}
	}
	for range 3 {
		if n := <-writes; n != 3 {
			t.Errorf("%d writes for three events", n)
		}
	}
	// One connection for two requests, the way every client of HTTP/1.1 may do it.
	c, err := net.Dial("tcp", direct.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for range 2 {
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(res.Body); err != nil || string(body) != want || len(res.TransferEncoding) != 1 {
			t.Errorf("%v: %d bytes, %v", res.TransferEncoding, len(body), err)
		}
	}
	// HTTP/1.0 knows no chunks.
	fmt.Fprintf(c, "GET / HTTP/1.0\r\n\r\n")
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != want || res.TransferEncoding != nil {
		t.Errorf("HTTP/1.0: %v: %d bytes, %v", res.TransferEncoding, len(body), err)
	}
}
