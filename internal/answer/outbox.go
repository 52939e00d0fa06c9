package answer

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

const (
	outboxSize    = 256 // messages that wait; more are dropped
	outboxTimeout = 10 * time.Second
)

// An outbox posts JSON to another system, one after the other and beside the work:
// whatever goes wrong there is logged and costs no answer.
type outbox struct {
	name, url string
	header    http.Header
	log       *slog.Logger
	client    *http.Client
	queue     chan []byte
	done      sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

func newOutbox(name, url string, header http.Header, log *slog.Logger) *outbox {
	header = header.Clone()
	header.Set("Content-Type", "application/json")
	o := &outbox{name: name, url: url, header: header, log: log, client: &http.Client{Timeout: outboxTimeout}, queue: make(chan []byte, outboxSize)}
	o.done.Go(func() {
		for body := range o.queue {
			o.post(body)
		}
	})
	return o
}

func (o *outbox) send(body []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	select {
	case o.queue <- body:
	default:
		o.log.Warn("message dropped, too many wait", "to", o.name)
	}
}

func (o *outbox) post(body []byte) {
	req, err := http.NewRequest(http.MethodPost, o.url, bytes.NewReader(body))
	if err != nil {
		o.log.Warn("message not sent", "to", o.name, "err", err)
		return
	}
	req.Header = o.header
	res, err := o.client.Do(req)
	if err != nil {
		o.log.Warn("message not sent", "to", o.name, "err", err)
		return
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	if res.StatusCode >= 300 {
		o.log.Warn("message refused", "to", o.name, "status", res.StatusCode)
	}
}

// close takes no more messages and waits, until ctx ends, for those that wait.
func (o *outbox) close(ctx context.Context) {
	o.mu.Lock()
	if !o.closed {
		o.closed = true
		close(o.queue)
	}
	o.mu.Unlock()
	sent := make(chan struct{})
	go func() { o.done.Wait(); close(sent) }()
	select {
	case <-sent:
	case <-ctx.Done():
	}
}
