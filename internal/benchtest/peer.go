package benchtest

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Peers is the folder of the programs that Docent is compared with.
func Peers(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".ci", "peers")
		}
	}
	t.Fatal("no go.mod above the test")
	return ""
}

// A Peer is a program of the other side that measures itself, again and again.
type Peer struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Scanner
	PID int
}

// StartPeer runs a script of .ci/peers with Node. It reads requests and writes
// results, each a line of JSON; it ends when its input does.
func StartPeer(t testing.TB, script string, args ...string) *Peer {
	t.Helper()
	cmd := exec.Command("node", append([]string{filepath.Join(Peers(t), script)}, args...)...)
	return startPeer(t, cmd)
}

// StartSelf runs one test of this test program as a peer, with a variable set that
// tells it so.
func StartSelf(t testing.TB, test, variable string) *Peer {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), variable)
	return startPeer(t, cmd)
}

func startPeer(t testing.TB, cmd *exec.Cmd) *Peer {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	p := &Peer{t: t, in: in, out: bufio.NewScanner(out), PID: cmd.Process.Pid}
	p.out.Buffer(nil, 16<<20)
	return p
}

// Ask sends a request and reads the answer to it.
func Ask[T any](p *Peer, request any) T {
	p.t.Helper()
	line, err := json.Marshal(request)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		p.t.Fatal(err)
	}
	return Read[T](p)
}

// Read reads the next answer.
func Read[T any](p *Peer) (v T) {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("the peer ended: %v", p.out.Err())
	}
	if err := json.Unmarshal(p.out.Bytes(), &v); err != nil {
		p.t.Fatalf("the peer wrote %q: %v", p.out.Text(), err)
	}
	return v
}
