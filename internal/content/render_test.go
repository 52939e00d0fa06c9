package content

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"testing"
	"time"

	"docent/db/dbtest"
	"docent/internal/config"
	"docent/internal/markdown"
)

func TestRender(t *testing.T) {
	types := everyType()
	s := New(dbtest.SQLite(t), Options{Types: typesOf(types), Languages: func() []string { return []string{"en", "es"} }})
	open := save(t, s, page("Open", "/open/", Published))
	closed := page("Closed", "/closed/", Published)
	closed.Access = &Access{ViewRoles: []string{"member"}}
	secret := save(t, s, closed)
	it := save(t, s, Input{Bundle: "every", Lang: "en", Title: "T", State: Published, Fields: Fields{
		"t": "<b>", "l": "## Depth\n\nOne <script>x</script>*two*", "b": true, "i": 3, "d": "12.50", "day": "2026-02-28",
		"when": map[string]any{"from": "2026-05-01T10:00:00Z", "to": "2026-05-01T11:30:00Z"}, "e": "ann@example.org",
		"u": map[string]any{"url": "https://example.org/", "title": "Example"}, "c": []any{"blue"}, "r": []any{secret.ID, open.ID},
		"parts": []any{map[string]any{"type": "text", "value": "*Hi*"}, map[string]any{"type": "block", "block": "answer", "settings": map[string]any{"agent": "b"}}},
	}})
	fields, err := s.Render(t.Context(), visitor, it, config.ViewFull)
	if err != nil {
		t.Fatal(err)
	}
	v := map[string][]RenderedValue{}
	for _, f := range fields {
		v[f.Name] = f.Values
		if want, _ := everyField.Field(f.Name); f.Label != want.Label || f.Type != want.Type || f.LabelPosition != config.LabelAbove {
			t.Errorf("%+v", f)
		}
	}
	if len(v) != 12 {
		t.Errorf("%d fields: %v", len(v), v)
	}
	if body := v["l"][0]; strings.Contains(body.HTML, "<script") || !strings.Contains(body.HTML, "<em>two</em>") || len(body.Headings) != 1 || body.Headings[0].Text != "Depth" {
		t.Errorf("%+v", body)
	}
	if v["t"][0].Text != "<b>" || v["t"][0].HTML != "" || !v["b"][0].Yes || v["i"][0].Text != "3" || v["d"][0].Text != "12.50" || v["c"][0].Text != "Blue" {
		t.Errorf("%+v", v)
	}
	if w := v["when"][0]; !w.Clock || !w.To.Equal(time.Date(2026, 5, 1, 11, 30, 0, 0, time.UTC)) || v["day"][0].Clock || !v["day"][0].To.IsZero() {
		t.Errorf("%+v %+v", w, v["day"])
	}
	if v["e"][0].URL != "mailto:ann@example.org" || v["u"][0].URL != "https://example.org/" || v["u"][0].Text != "Example" {
		t.Errorf("%+v %+v", v["e"], v["u"])
	}
	if len(v["r"]) != 1 || v["r"][0].Text != "Open" || v["r"][0].URL != "/open/" {
		t.Errorf("a visitor sees %+v", v["r"])
	}
	if p := v["parts"]; len(p) != 2 || !strings.Contains(p[0].HTML, "<em>Hi</em>") || p[1].Block.Name != "answer" || p[1].Block.UUID == "" || p[1].Block.Settings["agent"] != "b" {
		t.Errorf("%+v", p)
	}
	if fields, err := s.Render(t.Context(), editor, it, config.ViewFull); err != nil || len(fields) != 12 {
		t.Errorf("%v, %v", fields, err)
	} else if r := fields[10].Values; len(r) != 2 {
		t.Errorf("an editor sees %+v", r)
	}
	gone := Item{Ref: Ref{Type: TypeNode}, Bundle: "gone", Lang: "en", Fields: Fields{FieldBody: "Still *here*."}}
	if fields, err := s.Render(t.Context(), visitor, gone, config.ViewTeaser); err != nil || len(fields) != 1 || !strings.Contains(fields[0].Values[0].HTML, "<em>here</em>") {
		t.Errorf("content without a type: %+v, %v", fields, err)
	}
}

func TestRenderShowsMedia(t *testing.T) {
	s := New(dbtest.SQLite(t), Options{FilesDir: t.TempDir()})
	picture := func(name string, c color.Color) Item {
		var b bytes.Buffer
		img := image.NewRGBA(image.Rect(0, 0, 40, 30))
		draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		f, err := s.PutImage(t.Context(), name+".png", "", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return save(t, s, Input{Ref: Ref{Type: TypeMedia}, Bundle: "image", Lang: "en", Title: name,
			Fields: Fields{"image": map[string]any{"file": f.ID}, "alt": "A " + name}})
	}
	frog, newt := picture("frog", color.White), picture("newt", color.Black)
	it := save(t, s, Input{Bundle: "article", Lang: "en", Title: "Pond", State: Published, Fields: Fields{"image": frog.ID, FieldSummary: "Life."}})
	for mode, style := range map[string]string{config.ViewFull: "wide", config.ViewTeaser: "card"} {
		fields, err := s.Render(t.Context(), visitor, it, mode)
		if err != nil || len(fields) != 2 || fields[1].Style != style {
			t.Fatalf("%s: %+v, %v", mode, fields, err)
		}
		v := fields[1].Values[0]
		if v.Image == nil || v.Image.Alt != "A frog" || v.Image.File.Width != 40 || v.Item.ID != frog.ID {
			t.Errorf("%s: %+v", mode, v)
		}
		if len(v.Fields) != 1 || v.Fields[0].Values[0].Image.Alt != "A frog" {
			t.Errorf("%s shows the media as %+v", mode, v.Fields)
		}
	}
	next := InputOf(it)
	next.Fields = Fields{"image": newt.ID, FieldSummary: "Life."}
	save(t, s, next)
	c, err := s.Compare(t.Context(), editor, it.Ref, "en", "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Fields {
		if f.Name == "image" && (f.Kind != DiffImages || f.Before[0].Image.Alt != "A frog" || f.After[0].Image.Alt != "A newt") {
			t.Errorf("%+v", f)
		}
	}
	wrong := InputOf(it)
	wrong.BasedOn, wrong.Fields = "", Fields{"image": it.ID}
	if _, err := s.Save(t.Context(), editor, wrong); !refuses(err, "image") {
		t.Errorf("a page as a picture: %v", err)
	}
	if _, err := s.Save(t.Context(), editor, Input{Ref: Ref{Type: TypeMedia}, Bundle: "image", Lang: "en", Title: "No text",
		Fields: Fields{"image": frog.Fields["image"]}}); !refuses(err, "alt") {
		t.Errorf("a picture without its text: %v", err)
	}
}

func TestImportsAreChecked(t *testing.T) {
	s := New(dbtest.SQLite(t), Options{})
	in := Imported{Key: "k", Origin: "import:a.md", Input: Input{Bundle: "event", Lang: "en", Title: "Fair", Path: "/fair/", State: Published, Access: &Access{}, Fields: Fields{
		FieldBody: "See [x](/visit/).", "when": "2026-05-01", "place": strings.Repeat("x", 5000), "nowhere": 1, FieldSource: "javascript:alert(1)",
	}}, Topics: []Term{TermOf("topics", "Birds")}}
	if _, err := s.PutImported(t.Context(), []Imported{in}, nil); err != nil {
		t.Fatal(err)
	}
	it, err := s.ByPath(t.Context(), visitor, "en", "/fair/")
	if err != nil || len(it.Fields) != 3 || it.Fields[FieldTopics] == nil || it.Fields[FieldBody] == nil {
		t.Errorf("%v, %v", it.Fields, err)
	}
	_, refused := ShippedTypes().CheckFields(TypeNode, "event", in.Fields)
	if len(refused) != 3 {
		t.Errorf("refused %v", refused)
	}
}

func TestTextFormats(t *testing.T) {
	types := ShippedTypes()
	for _, tt := range []struct{ format, text, want string }{
		{config.FormatPlain, "a <b>\nc\n\n\n\nd", `<p dir="auto">a &lt;b&gt;<br>c</p>` + "\n" + `<p dir="auto">d</p>` + "\n"},
		{config.FormatPlain, " \n\n ", ""},
		{config.FormatRestrictedHTML, `<h1>T</h1><h2 id="x" class="y" onclick="z">T</h2>`, `T<h2>T</h2>`},
		{config.FormatRestrictedHTML, `<p>a<script>alert(1)</script><style>b{}</style><img src=x onerror=alert(1)>c</p>`, `<p>ac</p>`},
		{config.FormatRestrictedHTML, `<a href="javascript:alert(1)">x</a><a href="/visit/" hx-get="/x">y</a>`, `x<a href="/visit/">y</a>`},
		{config.FormatRestrictedHTML, `<a href="jav&#x09;ascript:alert(1)">x</a><a href="data:text/html,x">y</a>`, `xy`},
		{config.FormatRestrictedHTML, `<table><tr><td colspan="2" style="x">a</td></tr></table>`, `<table><tr><td colspan="2">a</td></tr></table>`},
		{config.FormatRestrictedHTML, `<div><iframe src="/x"></iframe><form action="/x"><input name=a></form></div>`, ``},
		{config.FormatFullHTML, `<div class="lead" style="x"><img src="/files/a.jpg" alt="A" onload="x"><img src="https://evil.example/p.gif" alt="B"></div>`,
			`<div class="lead"><img src="/files/a.jpg" alt="A"><img alt="B"></div>`},
		{config.FormatFullHTML, `<img src="//evil.example/p.gif"><svg onload=alert(1)></svg><object data=x></object>`, ``},
		{"gone", `<b>x</b>`, `<p dir="auto">&lt;b&gt;x&lt;/b&gt;</p>` + "\n"},
	} {
		if got, _ := types.HTML(tt.format, tt.text, markdown.Labels{}); got != tt.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", tt.format, tt.text, got, tt.want)
		}
	}
	if got := types.Plain(config.FormatFullHTML, "<p>A &amp; B</p><p>C<br>D</p>"); got != "A & B\nC\nD" {
		t.Errorf("%q", got)
	}
}

func TestIndexHoldsWhatFieldsTell(t *testing.T) {
	s := New(dbtest.SQLite(t), Options{})
	it := save(t, s, Input{Bundle: "event", Lang: "en", Title: "Fair", State: Published, Fields: Fields{
		"when": map[string]any{"from": "2026-05-01"}, "place": "Barn", FieldSummary: "Cakes.",
		FieldBody: map[string]any{"value": `<h2>Tickets</h2><p>They <em>cost</em> <a href="/visit/">nothing</a>.</p><script>x</script>`, "format": "restricted_html"},
	}})
	items, err := s.Translations(t.Context(), it.ID)
	if err != nil || len(items) != 1 {
		t.Fatalf("%v, %v", items, err)
	}
	const want = "- When: 2026-05-01\n- Place: Barn\n\n## Tickets\n\nThey *cost* [nothing](/visit/)."
	if got := items[0].Fields.Text(FieldBody); got != want || items[0].Fields.Text(FieldSummary) != "Cakes." {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	plain := save(t, s, page("Plain", "/plain/", Published))
	if items, err := s.Translations(t.Context(), plain.ID); err != nil || items[0].Fields.Text(FieldBody) != "About Plain." {
		t.Errorf("%+v, %v", items, err)
	}
}
