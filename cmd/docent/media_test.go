package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
)

// signIn returns a client that the administrator is signed in with, and its token.
func (s *testSite) signIn() (*http.Client, string) {
	s.t.Helper()
	c := client(s.t)
	form := url.Values{"name": {"admin"}, "password": {"correct horse battery"}}
	res, body := s.post(c, "/user/login", form)
	if res.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("sign in: %d %s", res.StatusCode, body)
	}
	return c, s.token(c)
}

// post sends a form as the site's own pages do.
func (s *testSite) post(c *http.Client, path string, form url.Values) (*http.Response, string) {
	s.t.Helper()
	return s.do(c, "POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
}

// formPart is a field of a multipart form, or a file when it has a name.
type formPart struct{ field, name, value string }

// send posts a multipart form.
func (s *testSite) send(c *http.Client, path string, parts []formPart, header ...string) (*http.Response, string) {
	s.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		part, err := w.CreateFormField(p.field)
		if p.name != "" {
			part, err = w.CreateFormFile(p.field, p.name)
		}
		if err == nil {
			_, err = part.Write([]byte(p.value))
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	w.Close()
	return s.do(c, "POST", path, b.String(), append([]string{"Content-Type", w.FormDataContentType(), "Sec-Fetch-Site", "same-origin"}, header...)...)
}

// printed is a PDF of one page with these lines.
func printed(lines ...string) string {
	var draw strings.Builder
	draw.WriteString("BT /F1 12 Tf 14 TL 72 720 Td\n")
	for _, line := range lines {
		fmt.Fprintf(&draw, "(%s) Tj T*\n", line)
	}
	draw.WriteString("ET")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [4 0 R] /Count 1 >>", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", draw.Len(), draw.String()),
	}
	b := "%PDF-1.4\n"
	xref := fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, o := range objects {
		xref += fmt.Sprintf("%010d 00000 n \n", len(b))
		b += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	return b + xref + fmt.Sprintf("trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, len(b))
}

// photo is a PNG that is blue but for its right end.
func photo(t *testing.T, w, h int) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{30, 90, 160, 255}
			if x > w*4/5 {
				c = color.RGBA{200, 60, 40, 255}
			}
			m.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// eventually asks until a condition holds: work in the background has no other end.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// withAdmin is an empty site that the administrator can sign in to.
var withAdmin = map[string]string{"DOCENT_ADMIN_PASSWORD": "correct horse battery", "DOCENT_DEMO": "off"}

// readyForPDF is a data folder in which what reading a PDF takes is there already,
// from a test before.
func readyForPDF(t *testing.T) string {
	t.Helper()
	data, cache := t.TempDir(), filepath.Join(os.TempDir(), "docent-test-pdf")
	if err := errors.Join(os.MkdirAll(cache, 0o700), os.Symlink(cache, filepath.Join(data, "cache"))); err != nil {
		t.Fatal(err)
	}
	return data
}

// An editor uploads a PDF; a visitor's question is answered from it and leads to
// it; with the PDF restricted, visitors no longer get its words or its bytes.
func TestDocumentIsAnsweredFrom(t *testing.T) {
	env := maps.Clone(withAdmin)
	env["DOCENT_DATA"] = readyForPDF(t)
	eachDatabase(t, env, func(t *testing.T, s *testSite) {
		editor, token := s.signIn()
		pdf := printed("Rules of the zeppelin hangar", "The zeppelin hangar is open to visitors on Thursdays from two in", "the afternoon. Bring a helmet.")
		res, body := s.send(editor, "/admin/media/upload", []formPart{{"csrf_token", "", token}, {"file", "Hangar Rules.pdf", pdf}})
		if res.StatusCode != 200 {
			t.Fatalf("upload: %d %s", res.StatusCode, body)
		}
		page := parse(t, body)
		file := page.Find("input[name=file]").AttrOr("value", "")
		if title := page.Find("input[name^='title.']").AttrOr("value", ""); title != "Hangar Rules" || file == "" {
			t.Fatalf("title %q, file %q", title, file)
		}
		if res, _ := s.get(client(t), "/files/"+file+"/hangar-rules.pdf"); res.StatusCode != 404 {
			t.Errorf("a file that nothing holds yet: %d", res.StatusCode)
		}
		res, body = s.post(editor, "/admin/media/describe", url.Values{"csrf_token": {token}, "file": {file}, "title." + file: {"Hangar rules"}, "summary." + file: {"When to visit."}})
		if res.StatusCode != 303 {
			t.Fatalf("describe: %d %s\n%s", res.StatusCode, parse(t, body).Find("main").Text(), s.output)
		}
		_, body = s.get(editor, "/admin/media")
		link := parse(t, body).Find("a.tile").First().AttrOr("href", "")
		id, _, _ := strings.Cut(strings.TrimPrefix(link, "/admin/media/"), "?")
		ask := func() string {
			t.Helper()
			visitor := client(t)
			_, body := s.do(visitor, "POST", "/ai-answers/question", `{"agent":"site","question":"When is the zeppelin hangar open to visitors?"}`,
				"Content-Type", asJSON, "X-CSRF-Token", s.token(visitor))
			return body
		}
		eventually(t, "the document in the index", func() bool {
			_, body := s.get(client(t), "/search?q=zeppelin+hangar")
			return strings.Contains(body, "/media/"+id+"/")
		})
		if answer := ask(); !strings.Contains(answer, "Thursdays") || !strings.Contains(answer, "/media/"+id+"/") || !strings.Contains(answer, `"media"`) {
			t.Errorf("answer: %s", answer)
		}
		visitor := client(t)
		res, body = s.get(visitor, "/media/"+id+"/")
		shown := parse(t, body)
		download := shown.Find(`main a[href^="/files/"]`).AttrOr("href", "")
		if res.StatusCode != 200 || !strings.Contains(shown.Find("main").Text(), "Bring a helmet") || download == "" {
			t.Fatalf("the document's page: %d %s", res.StatusCode, shown.Find("main").Text())
		}
		res, body = s.get(visitor, download)
		header := res.Header
		if res.StatusCode != 200 || body != pdf || header.Get("Content-Disposition") != "attachment; filename=hangar-rules.pdf" ||
			header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(header.Get("Content-Security-Policy"), "sandbox") ||
			!strings.HasPrefix(header.Get("Cache-Control"), "private") {
			t.Errorf("download: %d %v", res.StatusCode, header)
		}
		if res, _ := s.get(visitor, download, "If-None-Match", header.Get("ETag")); res.StatusCode != 304 {
			t.Errorf("the same again: %d", res.StatusCode)
		}

		// No longer on its own: nothing shows it, so visitors do not get it.
		res, body = s.post(editor, link, url.Values{"csrf_token": {token}, "title": {"Hangar rules"}})
		if res.StatusCode != 303 {
			t.Fatalf("save: %d %s", res.StatusCode, body)
		}
		for _, path := range []string{download, "/media/" + id + "/"} {
			if res, _ := s.get(visitor, path); res.StatusCode != 404 {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
			if res, _ := s.get(editor, path); res.StatusCode != 200 {
				t.Errorf("%s for the editor: %d", path, res.StatusCode)
			}
		}
		eventually(t, "the document out of the index", func() bool { return !strings.Contains(ask(), "Thursdays") })

		res, body = s.get(editor, "/admin/media/"+id+"/delete")
		if res.StatusCode != 200 || parse(t, body).Find(".consequences li").Length() == 0 {
			t.Errorf("consequences: %d", res.StatusCode)
		}
		if res, _ := s.post(editor, "/admin/media/"+id+"/delete", url.Values{"csrf_token": {token}}); res.StatusCode != 303 {
			t.Errorf("delete: %d", res.StatusCode)
		}
		if res, _ := s.get(editor, "/media/"+id+"/"); res.StatusCode != 404 {
			t.Errorf("deleted: %d", res.StatusCode)
		}
	})
}

func TestUploadsOverHTTP(t *testing.T) {
	s := serveSite(t, withAdmin)
	editor, token := s.signIn()
	picture := photo(t, 1000, 400)
	const upload = "/admin/media/upload"
	for _, c := range []struct {
		what   string
		client *http.Client
		parts  []formPart
		header []string
		status int
	}{
		{"without token", editor, []formPart{{"file", "a.png", picture}}, nil, 403},
		{"with a token behind the file", editor, []formPart{{"file", "a.png", picture}, {"csrf_token", "", token}}, nil, 403},
		{"with a wrong token", editor, []formPart{{"csrf_token", "", token + "x"}, {"file", "a.png", picture}}, nil, 403},
		{"by a visitor", client(t), []formPart{{"csrf_token", "", token}, {"file", "a.png", picture}}, nil, 403},
		{"without file", editor, []formPart{{"csrf_token", "", token}}, nil, 422},
		{"SVG", editor, []formPart{{"csrf_token", "", token}, {"file", "a.png", "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"}}, nil, 422},
		{"with a token in the header", editor, []formPart{{"file", "../../etc/pass%00wd", picture}}, []string{"X-CSRF-Token", token}, 200},
		{"one good, one bad", editor, []formPart{{"csrf_token", "", token}, {"file", "a.svg", "<svg/>"}, {"file", "Red end.png", picture}}, nil, 200},
	} {
		res, body := s.send(c.client, upload, c.parts, c.header...)
		if res.StatusCode != c.status && (c.status != 403 || res.StatusCode != 302 && res.StatusCode != 303) {
			t.Errorf("%s: %d %s", c.what, res.StatusCode, body)
		}
		if c.what == "one good, one bad" {
			page := parse(t, body)
			if page.Find(".notice--danger").Length() != 1 || page.Find("input[name=file]").Length() != 1 {
				t.Errorf("%s: %s", c.what, page.Find("main").Text())
			}
		}
	}
	if res, _ := s.do(editor, "POST", upload, "--x\r\nbroken", "Content-Type", "multipart/form-data; boundary=x", "X-CSRF-Token", token); res.StatusCode != 400 {
		t.Errorf("a broken form: %d", res.StatusCode)
	}

	// The alternative text is asked for, and nothing has to be sent twice.
	_, body := s.send(editor, upload, []formPart{{"csrf_token", "", token}, {"file", "Red end.png", picture}})
	file := parse(t, body).Find("input[name=file]").AttrOr("value", "")
	form := url.Values{"csrf_token": {token}, "file": {file}, "title." + file: {"Red end"}}
	res, body := s.post(editor, "/admin/media/describe", form)
	if page := parse(t, body); res.StatusCode != 422 || page.Find(".field--error input[name='alt."+file+"']").Length() != 1 || page.Find("input[name='title."+file+"']").AttrOr("value", "") != "Red end" {
		t.Fatalf("without alternative text: %d %s", res.StatusCode, body)
	}
	form.Set("alt."+file, "A blue wall with a red end")
	if res, body = s.post(editor, "/admin/media/describe", form); res.StatusCode != 303 {
		t.Fatalf("described: %d %s", res.StatusCode, body)
	}
	_, body = s.get(editor, "/admin/media?type=image&text=red")
	medium := parse(t, body).Find("a.tile")
	thumbnail := medium.Find("img").AttrOr("src", "")
	if medium.Length() != 1 || !strings.HasPrefix(thumbnail, "/files/styles/thumbnail/"+file+"/") {
		t.Fatalf("library: %s", body)
	}
	res, body = s.get(editor, thumbnail)
	if c, _, err := image.DecodeConfig(strings.NewReader(body)); err != nil || c.Width != 240 || c.Height != 240 || res.Header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("thumbnail: %d %+v %v", res.StatusCode, c, err)
	}
	for path, status := range map[string]int{
		strings.Replace(thumbnail, "thumbnail", "5000x5000", 1): 404, "/files/styles/card/nobody/1": 404, "/files/%2e%2e/docent.db": 404, "/files/../../docent.db": 404,
		strings.Replace(thumbnail, file, "../"+file, 1): 404,
	} {
		if res, _ := s.get(editor, path); res.StatusCode != status && res.StatusCode/100 != 3 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	if res, _ := s.get(client(t), thumbnail); res.StatusCode != 404 {
		t.Errorf("an image that no page shows: %d", res.StatusCode)
	}

	// The focal point decides how it is cut.
	href := medium.AttrOr("href", "")
	res, body = s.post(editor, href, url.Values{"csrf_token": {token}, "title": {"Red end"}, "field.alt": {"A red end"}, "focus_x": {"500"}, "focus_y": {"1"}})
	if res.StatusCode != 422 || parse(t, body).Find(".field__error").Length() == 0 {
		t.Errorf("a focus outside: %d", res.StatusCode)
	}
	if res, body = s.post(editor, href, url.Values{"csrf_token": {token}, "title": {"Red end"}, "field.alt": {"A red end"}, "focus_x": {"95"}, "focus_y": {"40"}}); res.StatusCode != 303 {
		t.Fatalf("focus: %d %s", res.StatusCode, body)
	}
	_, body = s.get(editor, href)
	page := parse(t, body)

	// Somebody else saved in between: nothing is lost, and nothing overwritten unasked.
	seen := page.Find("input[name=based_on]").AttrOr("value", "")
	form = url.Values{"csrf_token": {token}, "based_on": {seen}, "title": {"Red end"}, "field.alt": {"Red paint"}, "focus_x": {"95"}, "focus_y": {"40"}}
	if res, _ = s.post(editor, href, form); res.StatusCode != 303 {
		t.Fatalf("the first to save: %d", res.StatusCode)
	}
	form.Set("field.alt", "Brick")
	res, body = s.post(editor, href, form)
	again := parse(t, body)
	if res.StatusCode != 409 || again.Find("input[name='field.alt']").AttrOr("value", "") != "Brick" || !strings.Contains(again.Find(".notice--wait").Text(), "Red paint") {
		t.Errorf("the second: %d %s", res.StatusCode, again.Find("main").Text())
	}
	form.Set("based_on", again.Find("input[name=based_on]").AttrOr("value", ""))
	form.Set("field.alt", "A red end")
	if res, _ = s.post(editor, href, form); res.StatusCode != 303 {
		t.Errorf("the second again: %d", res.StatusCode)
	}
	cut := page.Find(".cuts img").First().AttrOr("src", "")
	_, body = s.get(editor, cut)
	m, _, err := image.Decode(strings.NewReader(body))
	if err != nil || cut == thumbnail {
		t.Fatalf("cut again: %s %v", cut, err)
	}
	if r, _, b, _ := m.At(235, 120).RGBA(); r < b {
		t.Error("the focus is out of sight")
	}

	// The picker: a fragment for the script, a page with links without.
	fragment := func(body string) *goquery.Document { return parse(t, "<body>"+body) }
	_, body = s.get(editor, "/admin/media/pick?for=media&bundle=image", "HX-Request", "true")
	if b := fragment(body).Find("button[data-docent-medium]"); b.Length() != 1 || b.AttrOr("data-docent-alt", "") != "A red end" {
		t.Errorf("picker: %s", body)
	}
	_, body = s.get(editor, "/admin/media/pick?for=image&return=%2Fadmin%2Fcontent%3Fa%3D1")
	if to := parse(t, body).Find("a.tile").AttrOr("href", ""); to != "/admin/content?a=1&picked="+file {
		t.Errorf("picked without scripts: %q", to)
	}
	for _, bad := range []string{"/admin/media/pick?for=all", "/admin/media/pick?for=media&return=https://evil.example/", "/admin/media/pick?for=media&return=//evil.example"} {
		if res, _ := s.get(editor, bad); res.StatusCode != 400 {
			t.Errorf("%s: %d", bad, res.StatusCode)
		}
	}
	// An upload in it is chosen at once, when nothing is missing.
	pick := "/admin/media/pick?for=media&bundle=image"
	res, body = s.send(editor, pick, []formPart{{"csrf_token", "", token}, {"alt", "", ""}, {"file", "new.png", photo(t, 50, 50)}}, "HX-Request", "true")
	kept := fragment(body).Find("input[name=kept]").AttrOr("value", "")
	if res.StatusCode != 422 || kept == "" || fragment(body).Find("[data-docent-done]").Length() != 0 {
		t.Fatalf("without alternative text: %d %s", res.StatusCode, body)
	}
	res, body = s.send(editor, pick, []formPart{{"csrf_token", "", token}, {"alt", "", "A square"}, {"kept", "", kept}}, "HX-Request", "true")
	if done := fragment(body).Find("[data-docent-done]"); res.StatusCode != 200 || done.AttrOr("data-docent-medium", "") == "" || done.AttrOr("data-docent-alt", "") != "A square" {
		t.Errorf("chosen: %d %s", res.StatusCode, body)
	}
	if res, _ = s.send(editor, "/admin/media/pick?for=image", []formPart{{"csrf_token", "", token}, {"file", "a.txt", "Only text."}}, "HX-Request", "true"); res.StatusCode != 422 {
		t.Errorf("a document for an image: %d", res.StatusCode)
	}

	res, body = s.get(editor, "/admin/reports/status")
	page = parse(t, body)
	if res.StatusCode != 200 || page.Find("[data-docent-status]").Length() != 7 || page.Find("[data-docent-status=danger]").Length() != 0 {
		t.Errorf("status: %d %s", res.StatusCode, page.Find("main").Text())
	}
	if res, _ := s.get(client(t), "/admin/reports/status"); res.StatusCode == 200 {
		t.Error("visitors see the status")
	}
}
