// Package benchtest measures two sides of a comparison in one run and holds their
// ratio against a gate.
package benchtest

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Rounds is how often each side is measured; the median counts.
const Rounds = 5

// Only skips a measurement unless `make bench` runs it.
func Only(t testing.TB) {
	t.Helper()
	if os.Getenv("DOCENT_BENCH") == "" {
		t.Skip("a measurement: run make bench")
	}
}

// A Side is one side of a comparison. It returns what it took, in any unit that
// both sides share.
type Side func() float64

// Alternate measures the sides in turns, after one round that does not count, and
// returns the median of each.
func Alternate(sides ...Side) []float64 {
	all := make([][]float64, len(sides))
	for round := range Rounds + 1 {
		for i, side := range sides {
			if v := side(); round > 0 {
				all[i] = append(all[i], v)
			}
		}
	}
	medians := make([]float64, len(sides))
	for i := range all {
		medians[i] = Median(all[i])
	}
	return medians
}

// Median returns the middle value.
func Median[T int | float64 | time.Duration](values []T) T {
	return Quantile(values, 0.5)
}

// Quantile returns the value that a share q of the values does not exceed.
func Quantile[T int | float64 | time.Duration](values []T, q float64) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// CPU is the processor time of this process so far, that of the garbage collector
// included.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // there is no process without usage
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// CPUOf is what one call of f takes of processor time, in microseconds: f is called
// until half a second has gone.
func CPUOf(f func()) float64 {
	runtime.GC()
	n, from := 0, CPU()
	for CPU()-from < time.Second/2 {
		f()
		n++
	}
	return float64((CPU() - from).Nanoseconds()) / 1e3 / float64(n)
}

// A Gate is what a measured value is held against.
type Gate struct {
	ID      string // as in docs/performance.md
	What    string
	AtLeast float64 // one of the two is set
	AtMost  float64
	Stretch float64
}

// Check prints a line for the table that `make bench` ends with, and fails the test
// if the value does not pass. The note holds absolute figures, which are only shown.
func (g Gate) Check(t testing.TB, value float64, note string, args ...any) {
	t.Helper()
	sign, limit, ok, reached := ">=", g.AtLeast, value >= g.AtLeast, value >= g.Stretch
	if g.AtMost > 0 {
		sign, limit, ok, reached = "<=", g.AtMost, value <= g.AtMost, value <= g.Stretch
	}
	verdict, stretch := "ok", "no"
	if !ok {
		verdict = "FAILED"
		t.Errorf("%s: %s is %.3g, want %s %g", g.ID, g.What, value, sign, limit)
	}
	if reached {
		stretch = "yes"
	}
	fmt.Printf("\nBENCH\t%s\t%s\t%.3g\t%s %g\t%s\t%g %s\t%s\n", g.ID, g.What, value, sign, limit, verdict, g.Stretch, stretch, fmt.Sprintf(note, args...))
}
