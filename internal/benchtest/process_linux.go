package benchtest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// clockTick is the unit of processor time in /proc, the same on all of Linux.
const clockTick = 10 * time.Millisecond

// CPU is the processor time that the process has used so far.
func (p *Peer) CPU() time.Duration {
	p.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
	if err != nil {
		p.t.Fatal(err)
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return clockTick * time.Duration(number(p.t, fields[11])+number(p.t, fields[12]))
}

// Resident is the memory that the process holds, in bytes.
func (p *Peer) Resident() int {
	p.t.Helper()
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.PID))
	if err != nil {
		p.t.Fatal(err)
	}
	return os.Getpagesize() * number(p.t, bytes.Fields(statm)[1])
}

func number(t testing.TB, field []byte) int {
	t.Helper()
	n, err := strconv.Atoi(string(field))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
