package handlers

import (
	"net/http"
	"net/http/httptest"
	"strings"
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
