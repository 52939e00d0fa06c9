package main

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"docent/internal/llm/llmtest"
)

// largestPicture is how many bytes a picture of the documentation may have.
const largestPicture = 200 << 10

// The pictures show the demo site with a model that answers like this. It cites the
// pages on prices and on opening hours, as search finds them.
const (
	picturedQuestion = "What are the opening hours in winter and the ticket prices?"
	picturedAnswer   = "In winter, from 1 November to 28 February, the garden is open **Thursday to Sunday from 10:00 to 15:30**; last entry is at 15:00. [3] " +
		"Prices have been the same since 1 October 2026: [1]\n\n" +
		"| Ticket | Price | Concession |\n| --- | ---: | ---: |\n| Adult | £6.50 | £4.50 |\n| Child, 5 to 16 | £2.50 | £1.50 |\n| Family | £15.00 | £10.50 |\n\n" +
		"Tickets last all day, so you can go out and come back. [1]\n\n" +
		"# Before you set out\n\n" +
		"- The café is open from 10:30 to 15:00. [3]\n- We close on 24, 25 and 26 December and on 1 January. [3]\n- On the first Friday of each month you pay what you can. [1]\n"

	picturedArabic       = "ما ساعات العمل في الشتاء وكم سعر تذكرة العائلة؟"
	picturedArabicAnswer = "في الشتاء، من 1 نوفمبر إلى 28 فبراير، تفتح الحديقة أبوابها **من الخميس إلى الأحد من 10:00 إلى 15:30**. [2] " +
		"تذكرة العائلة لبالغَين وحتى ثلاثة أطفال سعرها **15.00 جنيهًا**. [3]\n\n" +
		"# قبل أن تأتي\n\n- آخر دخول الساعة 15:00. [2]\n- التذكرة صالحة طوال اليوم. [3]\n"
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
		{"desktop", "/answers", picturedQuestion, picturedAnswer, "light", screen{"", 1280, 900}},
		{"dark", "/answers", picturedQuestion, picturedAnswer, "dark", screen{"", 1280, 900}},
		{"phone", "/answers", picturedQuestion, picturedAnswer, "light", screen{"", 390, 1180}},
		{"arabic", "/ar/answers", picturedArabic, picturedArabicAnswer, "light", screen{"", 1280, 900}},
	} {
		t.Run(p.name, func(t *testing.T) {
			model := llmtest.NewFakeOpenAI(llmtest.Stream(p.answer))
			t.Cleanup(model.Close)
			s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake"})
			ctx := browser(t, p.screen.width, p.screen.height)
			emulate(t, ctx, "prefers-color-scheme", p.scheme, "prefers-reduced-motion", "reduce")
			p.screen.show(t, ctx)
			on(t, ctx, s.url+p.path)
			put(t, ctx, p.question)
			until(t, ctx, "document.querySelector('[data-docent-state=done]') && !document.querySelector('[data-docent-stream]')")
			if paths := script[string](t, ctx, "[...document.querySelectorAll('.d-sources__cited .d-source__title a')].map(a => a.pathname.split('/').at(-2)).join()"); paths != "opening-hours,prices" {
				t.Fatalf("the answer cites %s", paths)
			}
			if p.screen.width > phone.width { // the sources are in sight: one is followed
				do(t, ctx, chromedp.Click(".d-turn__body .d-cite a[href='#source-2']"))
				until(t, ctx, "document.activeElement.matches('.d-source--followed')")
			}
			if p.screen.width > phone.width {
				p.screen.height = script[int](t, ctx, "document.documentElement.scrollHeight")
				p.screen.show(t, ctx)
			}
			script[bool](t, ctx, "document.activeElement.blur(), scrollTo(0, 0), document.fonts.ready.then(() => 0), true")
			keep(t, ctx, filepath.Join(dir, p.name+".png"))
		})
	}
}

// fewColors is a picture in the 256 colours that it has most of, which on pages of
// text differ from its own less than an eye can see.
func fewColors(img image.Image) image.Image {
	counts := map[color.RGBA]int{}
	bounds := img.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	var most color.Palette
	for _, c := range slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int { return counts[b] - counts[a] }) {
		if len(most) < 256 {
			most = append(most, c)
		}
	}
	nearest := map[color.RGBA]uint8{}
	for c := range counts {
		nearest[c] = uint8(most.Index(c))
	}
	out := image.NewPaletted(bounds, most)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	return out
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
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, fewColors(img)); err != nil {
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
