package benchtest

import (
	"bytes"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An event of a measured stream holds Mark once, and behind Due the time it was
// due, in nanoseconds since 1970 as 19 digits.
const (
	Mark = '~'
	Due  = "due="
)

// rest fills an event up to 150 bytes.
var rest = string(Mark) + strings.Repeat("0", 120)

// EventText is an event of 150 bytes. It is made quickly, because making it is not
// what is measured.
func EventText(due time.Time) string {
	return Due + strconv.FormatInt(due.UnixNano(), 10) + rest
}

// Listeners are many connections to one event stream, read by one goroutine, so
// that the client costs the same whatever the server does.
type Listeners struct {
	t     testing.TB
	epoll int
	fds   []int
	buf   []byte
}

// Listen opens n connections, asks each for a path and waits until all have got
// something.
func Listen(t testing.TB, address, path string, n int) *Listeners {
	t.Helper()
	epoll, err := syscall.EpollCreate1(0)
	if err != nil {
		t.Fatal(err)
	}
	l := &Listeners{t: t, epoll: epoll, buf: make([]byte, 256<<10)}
	at := netip.MustParseAddrPort(address)
	to := &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", path, address)
	for range n {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err == nil {
			l.fds = append(l.fds, fd)
			// Closed with a reset: thousands of ports must not wait for a minute.
			err = syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
		}
		if err == nil {
			err = syscall.Connect(fd, to)
		}
		if err == nil {
			_, err = syscall.Write(fd, []byte(request))
		}
		if err == nil {
			err = syscall.SetNonblock(fd, true)
		}
		if err == nil {
			err = syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)})
		}
		if err != nil {
			t.Fatalf("connection %d: %v", len(l.fds), err)
		}
	}
	heard := map[int32]bool{}
	for deadline := time.Now().Add(time.Minute); len(heard) < n; {
		l.read(deadline, func(fd int32, _ []byte) { heard[fd] = true })
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d connections got an answer", len(heard), n)
		}
	}
	return l
}

// Heard is what arrived in some time.
type Heard struct {
	Events int
	Late   []time.Duration // of some events, after they were due
}

// Hear reads for a while.
func (l *Listeners) Hear(d time.Duration) (h Heard) {
	l.t.Helper()
	for deadline := time.Now().Add(d); time.Now().Before(deadline); {
		l.read(deadline, func(_ int32, b []byte) {
			h.Events += bytes.Count(b, []byte{Mark})
			if i := bytes.Index(b, []byte(Due)); i >= 0 && len(b) >= i+len(Due)+19 {
				if due, err := strconv.ParseInt(string(b[i+len(Due):i+len(Due)+19]), 10, 64); err == nil {
					h.Late = append(h.Late, time.Duration(time.Now().UnixNano()-due))
				}
			}
		})
	}
	return h
}

func (l *Listeners) read(deadline time.Time, got func(fd int32, b []byte)) {
	l.t.Helper()
	var ready [512]syscall.EpollEvent
	n, err := syscall.EpollWait(l.epoll, ready[:], max(1, int(time.Until(deadline).Milliseconds())))
	if err != nil && err != syscall.EINTR {
		l.t.Fatal(err)
	}
	for _, e := range ready[:max(n, 0)] {
		size, err := syscall.Read(int(e.Fd), l.buf)
		switch {
		case size > 0:
			got(e.Fd, l.buf[:size])
		case err == syscall.EAGAIN || err == syscall.EINTR:
		default:
			l.t.Fatalf("a connection ended: %v", err)
		}
	}
}

// Close ends all connections.
func (l *Listeners) Close() {
	for _, fd := range l.fds {
		syscall.Close(fd)
	}
	syscall.Close(l.epoll)
}
