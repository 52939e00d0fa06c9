package answer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"docent/db"
)

// newOwner names this process: "host/pid/random".
func newOwner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", strings.ReplaceAll(host, "/", "-"), os.Getpid(), newSecret()[:12])
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
	return pid == os.Getpid() || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
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
	n, err := interruptExpired(ctx, s.DB)
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
		s.mu.Lock()
		runs := slices.Collect(maps.Values(s.runs))
		s.mu.Unlock()
		for _, r := range runs {
			ours, stop, err := saveProgress(s.base, s.DB, r.turn.ID, s.owner, r.soFar(), db.Now().Add(leaseTime))
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
		if n, err := interruptExpired(s.base, s.DB); err == nil && n > 0 {
			s.Log.Warn("turns whose lease ran out are marked interrupted", "count", n)
		}
	}
}
