package main

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"docent/internal/llm/llmtest"
)

// largestPicture is how many bytes a picture of the documentation may have.
const largestPicture = 200 << 10

// The pictures show the demo site with a model that answers like this.
const (
	picturedQuestion = "When can a family of four visit in winter, and what does it cost?"
	picturedAnswer   = "In winter, from 1 November to 28 February, the garden is open **Thursday to Sunday from 10:00 to 15:30**; the last entry is at 15:00. [1] " +
		"A family ticket for two adults and up to three children costs **£15.00**, or £10.50 with a concession. [2]\n\n" +
		"# What it costs\n\n" +
		"| Ticket | Price | With concession |\n| --- | ---: | ---: |\n| Adult | £6.50 | £4.50 |\n| Child, 5 to 16 | £2.50 | £1.50 |\n| Family | £15.00 | £10.50 |\n\n" +
		"Tickets last all day, so you can go out and come back. [2] Before you set out:\n\n" +
		"- the café is open from 10:30 to 15:00, [1]\n- we close on 24, 25 and 26 December and on 1 January, [1]\n- on the first Friday of each month you pay what you can. [2]\n"

	picturedArabic       = "متى تفتح الحديقة في الشتاء وكم سعر تذكرة العائلة؟"
	picturedArabicAnswer = "في الشتاء، من 1 نوفمبر إلى 28 فبراير، تفتح الحديقة أبوابها **من الخميس إلى الأحد من 10:00 إلى 15:30**. [1] " +
		"تذكرة العائلة لبالغَين وحتى ثلاثة أطفال سعرها **£15.00**. [2]\n\n" +
		"# قبل أن تأتي\n\n- آخر دخول الساعة 15:00، [1]\n- التذكرة صالحة طوال اليوم. [2]\n"
)

// TestScreenshots takes the pictures of the documentation. It runs where
// DOCENT_SCREENSHOTS names the folder for them, as "make screenshots" does.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("DOCENT_SCREENSHOTS")
	if dir == "" {
		t.Skip("DOCENT_SCREENSHOTS names no folder")
	}
	for _, p := range []struct {
		name, path, question, answer, scheme string
		screen                               screen
	}{
		{"desktop", "/answers", picturedQuestion, picturedAnswer, "light", screen{"", 1280, 1180}},
		{"dark", "/answers", picturedQuestion, picturedAnswer, "dark", screen{"", 1280, 1180}},
		{"phone", "/answers", picturedQuestion, picturedAnswer, "light", screen{"", 390, 1180}},
		{"arabic", "/ar/answers", picturedArabic, picturedArabicAnswer, "light", screen{"", 1280, 900}},
	} {
		t.Run(p.name, func(t *testing.T) {
			model := llmtest.NewFakeOpenAI(llmtest.Stream(p.answer))
			t.Cleanup(model.Close)
			s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake"})
			ctx := browser(t, p.screen.width, p.screen.height)
			emulate(t, ctx, "prefers-color-scheme", p.scheme)
			p.screen.show(t, ctx)
			on(t, ctx, s.url+p.path)
			put(t, ctx, p.question)
			until(t, ctx, "document.querySelector('[data-docent-state=done]') && !document.querySelector('[data-docent-stream]')")
			if p.screen.width > phone.width { // the sources are in sight: one is followed
				do(t, ctx, chromedp.Click(".d-turn__body .d-cite a[href='#source-2']"))
				until(t, ctx, "document.activeElement.matches('.d-source--followed')")
			}
			script[bool](t, ctx, "document.activeElement.blur(), scrollTo(0, 0), document.fonts.ready.then(() => 0), true")
			keep(t, ctx, filepath.Join(dir, p.name+".png"))
		})
	}
}

// keep writes a picture of the page, packed as small as it gets.
func keep(t *testing.T, ctx context.Context, file string) {
	t.Helper()
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, img); err != nil {
		t.Fatal(err)
	}
	if small.Len() > largestPicture {
		t.Errorf("%s has %d bytes", file, small.Len())
	}
	if err := os.WriteFile(file, small.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", file, small.Len())
}
