package answer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// thisProcess tells this process from an earlier one that had its number.
var thisProcess = newSecret()[:12]

// newOwner names this process: "machine/pid/random".
func newOwner() string { return fmt.Sprintf("%s/%d/%s", machine(), os.Getpid(), thisProcess) }

// machine names the place in which process numbers mean the same: this start of
// this kernel and, since containers number their processes themselves, this
// namespace. Where that cannot be told every process is a place of its own, and
// only leases say that another is gone.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, err2 := os.Readlink("/proc/self/ns/pid")
	if err != nil || err2 != nil {
		return newSecret()
	}
	sum := sha256.Sum256([]byte(string(boot) + space))
	return hex.EncodeToString(sum[:8])
}

// gone reports whether the process that an owner names has certainly ended:
// it ran on this machine and nothing has its number, or this process has it now.
func (s *Service) gone(owner string) bool {
	other, mine := strings.Split(owner, "/"), strings.Split(s.owner, "/")
	if len(other) != 3 || other[0] != mine[0] || owner == s.owner {
		return false
	}
	pid, err := strconv.Atoi(other[1])
	if err != nil || pid <= 0 {
		return false
	}
	process, err := os.FindProcess(pid)
	return pid == os.Getpid() || err == nil && errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// recover marks turns as interrupted whose process is gone; of processes
// elsewhere, those whose lease has run out.
func (s *Service) recover(ctx context.Context) error {
	owners, err := runningOwners(ctx, s.DB)
	if err != nil {
		return err
	}
	var total int64
	for _, o := range owners {
		if !s.gone(o) {
			continue
		}
		n, err := interruptOf(ctx, s.DB, o)
		if err != nil {
			return err
		}
		total += n
	}
	now, err := s.DB.Clock(ctx)
	if err != nil {
		return err
	}
	n, err := interruptExpired(ctx, s.DB, s.owner, now)
	if err != nil {
		return err
	}
	if total += n; total > 0 {
		s.Log.Warn("turns of a process that is gone are marked interrupted", "count", total)
	}
	return nil
}

// keepLeases renews the leases of this process's turns, keeps their text so far,
// passes stops on that came through another process, and ends turns elsewhere
// whose lease has run out.
func (s *Service) keepLeases() {
	tick := time.NewTicker(leaseRenew)
	defer tick.Stop()
	for {
		select {
		case <-s.base.Done():
			return
		case <-tick.C:
		}
		now, err := s.DB.Clock(s.base)
		if err != nil {
			if s.base.Err() == nil {
				s.Log.Error("keep leases", "err", err)
			}
			continue
		}
		s.mu.Lock()
		runs := slices.Collect(maps.Values(s.runs))
		s.mu.Unlock()
		for _, r := range runs {
			ours, stop, err := saveProgress(s.base, s.DB, r.turn.ID, s.owner, r.soFar(), now.Add(leaseTime))
			switch {
			case err != nil:
				if s.base.Err() == nil {
					s.Log.Error("keep a turn's lease", "err", err)
				}
			case !ours:
				r.cancel(errLost)
			case stop:
				r.cancel(errStopped)
			}
		}
		if n, err := interruptExpired(s.base, s.DB, s.owner, now); err == nil && n > 0 {
			s.Log.Warn("turns whose lease ran out are marked interrupted", "count", n)
		}
	}
}
