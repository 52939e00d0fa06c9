package handlers

import (
	"net/netip"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"docent/internal/config"
)

// A buckets object limits how often something may be done by each of many: a
// bucket holds a minute's worth and fills steadily. Full ones are forgotten.
type buckets struct {
	mu      sync.Mutex
	filled  map[string]time.Time // when the bucket is full again
	cleaned time.Time
}

// take takes one of perMinute for who and returns 0, or how long there is none.
func (b *buckets) take(who string, perMinute int, now time.Time) time.Duration {
	each := time.Minute / time.Duration(perMinute)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.filled == nil {
		b.filled = map[string]time.Time{}
	}
	if now.Sub(b.cleaned) > time.Minute {
		b.cleaned = now
		for k, full := range b.filled {
			if !full.After(now) {
				delete(b.filled, k)
			}
		}
	}
	full := b.filled[who]
	if full.Before(now) {
		full = now
	}
	if wait := full.Add(each).Sub(now) - time.Minute; wait > 0 {
		return wait
	}
	b.filled[who] = full.Add(each)
	return 0
}

// tooMany counts a question of the visitor's and returns how long to wait when
// there were too many.
func (h *Handlers) tooMany(c echo.Context) time.Duration {
	settings, err := config.Get[config.AnswerSettings](c.Request().Context(), h.Config, config.SiteName)
	if err != nil || settings.PerMinute == 0 {
		return 0
	}
	return h.asked.take(h.visitor(c), settings.PerMinute, time.Now())
}

// visitor names whose doings are counted: an account wherever it is, everybody
// else by address.
func (h *Handlers) visitor(c echo.Context) string {
	if h.account(c).IsAnonymous() {
		return "address " + network(c.RealIP())
	}
	return "account " + h.account(c).ID
}

// network is an address as far as one visitor is concerned: providers give homes
// whole networks of IPv6.
func network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Unmap().Is4() {
		return address
	}
	p, err := a.Prefix(64)
	if err != nil {
		return address
	}
	return p.String()
}
