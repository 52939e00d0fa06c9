package main

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestZZShot(t *testing.T) {
	ctx, _ := styleguide(t, desktop)
	for _, sc := range []screen{desktop, small} {
		sc.show(t, ctx)
		for _, id := range []string{"answers-recent", "ends-stop", "answers-recent-narrow", "questions-unsent"} {
			b, err := chromedp.Run(ctx, chromedp.Screenshot("#"+id))
			if err != nil {
				t.Error(id, err)
				continue
			}
			os.WriteFile("/tmp/shots6/"+sc.name+"-"+id+".png", b, 0o600)
		}
	}
}
