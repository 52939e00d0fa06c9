package crawl

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// agent names the crawler in robots.txt and to the sites it reads.
const agent = "Docent"

const userAgent = agent + "/1 (site search; reads sitemap.xml)"

// Bounds of one request.
const (
	maxPage     = 4 << 20 // bytes
	maxSitemap  = 50 << 20
	maxRobots   = 512 << 10
	maxRedirect = 5
	requestTime = 30 * time.Second
)

// ErrPrivate means that an address is not on the public network.
var ErrPrivate = errors.New("is a private address: the operator must allow those")

var (
	errOtherHost = errors.New("leads to another host")
	errTooLarge  = errors.New("is too large")
)

// newClient returns a client that stays on one host and, unless private addresses
// are allowed, on the public network: the address is judged when it is dialled, so
// that no name can stand for two.
func newClient(site *url.URL, allowPrivate bool) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !allowPrivate {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			if !public(at.Addr()) {
				return fmt.Errorf("%s %w", at.Addr(), ErrPrivate)
			}
			return nil
		}
	}
	return &http.Client{
		Timeout: requestTime,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 20 * time.Second,
			MaxResponseHeaderBytes: 64 << 10, MaxIdleConnsPerHost: 1, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case len(via) > maxRedirect:
				return errors.New("leads in circles")
			case !sameHost(site, r.URL):
				return fmt.Errorf("%w, %s", errOtherHost, r.URL.Host)
			}
			return nil
		},
	}
}

// sameHost compares host and port; a site may move on from http to https.
func sameHost(a, b *url.URL) bool {
	if b.Scheme != "http" && b.Scheme != "https" || !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	return a.Port() == b.Port() || standardPort(a) && standardPort(b)
}

func standardPort(u *url.URL) bool {
	return u.Port() == "" || u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443"
}

// reserved are networks that netip's own questions leave out.
var reserved = func() (out []netip.Prefix) {
	for _, p := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "240.0.0.0/4", // IPv4
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "fec0::/10", // IPv6, and IPv4 within it
	} {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}()

// public reports whether an address is one of the internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && !a.IsPrivate() && !a.IsLoopback() && !a.IsLinkLocalUnicast() &&
		!slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// A response is one that has been read.
type response struct {
	status       int
	url          *url.URL // after redirects
	header       http.Header
	body         []byte
	etag, lastMo string
}

// get reads an address, conditionally when validators are given.
func (r *run) get(ctx context.Context, address, etag, lastModified string, limit int64) (response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return response{}, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/html, application/xhtml+xml, application/xml;q=0.9, text/xml;q=0.9")
	if r.Language != "" {
		req.Header.Set("Accept-Language", r.Language)
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	if lastModified != "" {
		req.Header.Set("If-Modified-Since", lastModified)
	}
	res, err := r.client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return response{}, err
	}
	defer res.Body.Close()
	out := response{status: res.StatusCode, url: res.Request.URL, header: res.Header, etag: res.Header.Get("ETag"), lastMo: res.Header.Get("Last-Modified")}
	out.body, err = readUpTo(res.Body, limit)
	r.bytes += int64(len(out.body))
	return out, err
}

// readUpTo reads a body that may be gzipped as a file, and fails beyond limit.
func readUpTo(body io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) && int64(len(b)) <= limit {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		if b, err = io.ReadAll(io.LimitReader(z, limit+1)); err != nil {
			return nil, err
		}
	}
	if int64(len(b)) > limit {
		return nil, errTooLarge
	}
	return b, nil
}
