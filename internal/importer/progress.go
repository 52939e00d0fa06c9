package importer

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// ProgressTo returns a function for [Options.Progress] that draws a bar on a
// terminal, and writes a line a second, at most, to anything else.
func ProgressTo(w io.Writer, terminal bool) func(Progress) {
	if !terminal {
		var last time.Time
		return func(p Progress) {
			if now := time.Now(); now.Sub(last) >= time.Second || p.Done == p.Total {
				last = now
				fmt.Fprintf(w, "%d of %d files\n", p.Done, p.Total)
			}
		}
	}
	var bar *progressbar.ProgressBar
	return func(p Progress) {
		if bar == nil {
			bar = progressbar.NewOptions(p.Total, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(),
				progressbar.OptionShowIts(), progressbar.OptionSetItsString("files"), progressbar.OptionSetWidth(30),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
		}
		bar.Set(p.Done)
	}
}
