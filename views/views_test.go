package views

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"docent/components"
	"docent/internal/i18n"
	"docent/static"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
)

const (
	answerID = "ai-answers-answer-1"
	hostile  = `"><script>alert(1)</script><img src=x onerror=alert(1)>'</title>`
)

var at = time.Date(2027, 3, 2, 10, 31, 0, 0, time.UTC)

func render(t *testing.T, lang string, c templ.Component) *goquery.Document {
	t.Helper()
	var buf bytes.Buffer
	if err := c.Render(i18n.WithLanguage(context.Background(), lang), &buf); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func site(lang, text string) Site {
	return Site{
		SiteName: text, Tagline: text, Lang: lang, CurrentPath: "/p", Footer: text,
		Languages:   []LanguageLink{{Code: "en", Name: "English", URL: "/p", Current: lang == "en"}, {Code: "ar", Name: "العربية", URL: "/ar/p", Current: lang == "ar"}},
		Menu:        []components.Link{{Label: text, URL: "/p", Current: true}},
		FooterLinks: []components.Link{{Label: text, URL: "/legal"}},
		Blocks: Blocks{Top: []components.BlockProps{{Question: &components.QuestionProps{
			ID: "ask", Variant: components.QuestionBand, Action: "/ai-answers/question", Agent: "a", AnswerID: answerID, TargetURL: "/answers",
			Label: text, Placeholder: text, Note: text, Suggestions: []string{text},
		}}}},
	}
}

func turns(text string) []components.TurnProps {
	return []components.TurnProps{
		{DOMID: "turn-1", AnswerID: answerID, Question: text, State: components.TurnDone, CitedCount: 1, Blocks: []string{`<p id="turn-1-b0">x</p>`}, MarkdownURL: "/m", Share: &components.ShareProps{ID: "turn-1-share", Action: "/s", URL: "https://example.org/" + text, Until: text}, Feedback: &components.FeedbackProps{ID: "turn-1-fb", Action: "/f", Rating: "down", Reasons: []components.Option{{Value: "0", Label: text}}}},
		{DOMID: "turn-2", AnswerID: answerID, Question: text, State: components.TurnWriting, EventsURL: "/e", StopURL: "/s"},
	}
}

// pages are all pages with everything on them that can be; text stands wherever
// text comes from outside.
func pages(lang, text string) map[string]templ.Component {
	s := site(lang, text)
	links := []components.Link{{Label: text, URL: "/a", Where: text, Summary: text}}
	lone := s
	lone.Blocks = Blocks{}
	lone.CSRF = text
	admin := Admin{
		Site: lone, AccountURL: "/admin/account", LogoutURL: "/logout",
		Rail:    []AdminItem{{Label: text, URL: "/admin", Icon: components.IconHome, Current: true}},
		Notices: []components.NoticeProps{{Kind: components.NoticeOK, Title: text, Live: true}},
	}
	admin.AccountName = text
	picture := &components.ImageProps{Src: "/files/a.png", Srcset: "/files/a.png 100w", Sizes: "100vw", Width: 4, Height: 3, Alt: text}
	fields := []components.ShownField{
		{Name: "when", Label: text, Above: true, Values: []components.ShownValue{{From: at, To: at.Add(time.Hour), Clock: true}, {Text: text, URL: "/a"}, {Text: text, URL: "https://elsewhere.example/", External: true}, {Text: text}}},
		{Name: "body", Label: text, Values: []components.ShownValue{{HTML: "<p>x</p>"}, {Image: picture}, {File: &components.FileProps{Name: text, URL: "/f", Detail: text}}}},
		{Name: "image", Label: text, Values: []components.ShownValue{{Fields: []components.ShownField{{Values: []components.ShownValue{{Image: picture}}}, {Label: text, Above: true, Values: []components.ShownValue{{Text: text}}}}}}},
	}
	teasers := []components.TeaserProps{{Title: text, URL: "/a", Lang: "ja", Kind: text, Date: at, Image: picture, Facts: fields[:1], Text: text}}
	lists := []TeaserList{{ID: "list-1", Title: text, Items: teasers, More: components.Link{Label: text, URL: "/more"}}}
	head := Head{
		Description: text, Canonical: "https://site.example/p", Article: true, Image: components.ImageProps{Src: "https://site.example/a.png", Alt: text},
		Alternates: []LanguageLink{{Code: "en", URL: "https://site.example/p"}, {Code: "x-default", URL: "https://site.example/p"}},
		Feeds:      []components.Link{{Label: text, URL: "/feed.xml"}}, Data: []any{map[string]string{"name": text}},
	}
	source := components.SourceProps{Number: 1, Key: "k", Title: text, URL: "/a", Where: text, Passage: text, Mark: [2]int{0, 1}}
	all := map[string]templ.Component{
		"entity": Entity(EntityPage{
			Site: s, Head: head, Title: text, Standfirst: text, Author: text, Published: at, Changed: at,
			Breadcrumb: links, Section: text, Siblings: links, Facts: fields[:1], Fields: fields, Topics: fields[:1], BodyLang: "ja",
			Fallback: text, Original: "https://elsewhere.example/?q=" + text, Lists: lists, Preview: true,
		}),
		"listing":    Listing(ListingPage{Site: s, Head: head, Title: text, Standfirst: text, Breadcrumb: links, Section: text, Siblings: links, Fields: fields, Items: teasers, Lists: lists, Pager: components.PagerProps{From: 1, To: 1, Total: 2, NextURL: "?page=2"}}),
		"empty list": Listing(ListingPage{Site: s, Title: text}),
		"search": Search(SearchPage{Site: s, Action: "/search", Query: text, Searched: true, Choices: []components.Option{{Value: "", Label: text}}, Pager: components.PagerProps{Total: 2},
			Items: []components.FoundProps{{Title: text, URL: "/a#b", Where: text, Lang: "ja", LangName: text, Passage: []components.FoundText{{Text: text}, {Text: text, Match: true}}}, {Title: text, URL: "https://elsewhere.example/", External: true}}}),
		"empty search": Search(SearchPage{Site: s, Action: "/search", Query: text, Searched: true, Topics: links}),
		"empty answer": Answers(AnswersPage{Site: s, Title: text, Main: []components.BlockProps{{Answer: &components.AnswerProps{ID: answerID, Action: "/q", Label: text, Empty: text, Suggestions: []string{text}}}, {Sources: &components.SourceListProps{ID: "list", AnswerID: answerID}}}, Offline: true}),
		"answers": Answers(AnswersPage{
			Site: s, Title: text, Running: true, DeleteURL: "/d", Offline: true,
			Main: []components.BlockProps{
				{Answer: &components.AnswerProps{ID: answerID, Action: "/q", Label: text, Turns: turns(text), FollowUp: components.FollowUpProps{AnswerID: answerID, Action: "/q", ConversationID: "c", Suggestions: []string{text}}}},
				{Sources: &components.SourceListProps{ID: "list", AnswerID: answerID, Cited: []components.SourceProps{source}, Waiting: []components.SourceProps{{Key: "w", Title: text}}}},
			},
		}),
		"shared answer": Shared(SharedPage{Site: s, Question: text, Lang: "ar", Blocks: []string{`<p id="s-b0">x</p>`}, Day: text, Agent: text, AskURL: "/answers",
			Sources: components.SourceListProps{ID: "shared-sources", Cited: []components.SourceProps{{Number: 1, Key: "k", Title: text, URL: "/p", Where: text, Passage: text, Anchor: true}}}}),
		"missing shared answer": SharedMissing(SharedMissingPage{Site: s, Title: text, Text: text, AskURL: "/answers", LoginURL: "/user/login"}),
		"missing conversation":  ConversationMissing(ConversationMissingPage{Site: s, SearchURL: "/search"}),
		"login":                 Login(LoginPage{Site: lone, Action: "/login", Name: text, Destination: text, Error: text}),
		"locked":                Login(LoginPage{Site: lone, Action: "/login", Error: text, Locked: true}),
		"link":                  SignInLink(SignInLinkPage{Site: lone, Action: "/link", Token: text, Name: text}),
		"bad link":              SignInLink(SignInLinkPage{Site: lone, Invalid: true}),
		"dashboard": Dashboard(DashboardPage{
			Admin: admin, Counts: []Count{{Label: "Pages", Value: 3, URL: "/admin/content"}}, Model: text, ModelOffline: true, IndexChunks: 7, IndexChanged: at,
		}),
		"content":      ContentList(ContentListPage{Admin: admin, Action: "/admin/content", BulkAction: "/admin/content/bulk", Text: text, ReviewURL: "/r", Add: links, Actions: []ContentAction{{Op: "publish", Label: text}}, Types: []components.Option{{Value: "a", Label: text}}, Rows: []ContentRow{{Title: text, URL: "/a", Path: text, Type: text, State: "published", NewDraft: true, Languages: []string{text}, Author: text, Changed: at}, {Title: text, State: text}}}),
		"add":          ContentAdd(ContentAddPage{Admin: admin, Types: links, Begun: []BegunForm{{Title: text, Type: text, At: at, URL: "/b", DiscardURL: "/d"}}}),
		"edit":         NodeEdit(editPage(admin, text, links, at)),
		"history":      NodeHistory(NodeHistoryPage{NodeFrame: editPage(admin, text, links, at).NodeFrame, CompareURL: "/c", Rows: []RevisionRow{{ID: text, At: at, Author: text, Message: text, State: text, Title: text + "2", ViewURL: "/v", RevertURL: "/r"}, {ID: "b", At: at, Current: true, Latest: true, ViewURL: "/v"}}}),
		"compare":      NodeCompare(NodeComparePage{NodeFrame: editPage(admin, text, links, at).NodeFrame, From: text, To: text, HistoryURL: "/h", RevertURL: "/r", Fields: []DiffField{{Label: text, Pieces: []DiffPiece{{"same", text}, {"removed", text}, {"added", text}}}, {Label: text, Before: []string{text, text}, AfterPictures: []DiffPicture{{URL: "/files/p", Alt: text}}}}}),
		"translations": NodeTranslations(NodeTranslationsPage{NodeFrame: editPage(admin, text, links, at).NodeFrame, Rows: []TranslationRow{{Code: "en", Label: "English", State: "draft", Title: text, EditURL: "/e", DeleteURL: "/d", Original: true, Changed: at}, {Code: "ar", Label: text, EditURL: "/a"}}}),
		"confirm":      ContentConfirm(ContentConfirmPage{Admin: admin, Heading: text, Text: text, Action: "/a", Button: text, Back: "/b", Possible: 1, Items: []ConfirmItem{{Key: text, Title: text, Detail: text, Consequences: []Consequence{{Title: text, Links: links, More: 3}}}, {Title: text, Refused: text}}}),
		"nothing":      ContentList(ContentListPage{Admin: admin, Action: "/admin/content", Text: text}),
		"accounts":     Accounts(AccountsPage{Admin: admin, Rows: []AccountRow{{Name: text, Mail: text, Roles: text, LinkURL: "/l", LastSeen: at}, {Name: text, Blocked: true}}, NewLink: text, NewLinkName: text, NewLinkEnds: at}),
		"account":      Account(AccountPage{Admin: admin, PasswordAction: "/p", HasPassword: true, OldError: text, NewError: text, RepeatError: text, MinPassword: 12, Sessions: []SessionRow{{ID: text, Agent: text, Address: text, Since: at, Seen: at}, {Agent: text, Current: true}}, RevokeAction: "/r", RevokeAll: "/ra"}),
	}
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests, http.StatusInternalServerError} {
		all[http.StatusText(status)] = Error(ErrorPage{Site: s, Status: status, Message: text, RequestID: text, SearchURL: "/search", LoginURL: "/login", Nearest: links})
	}
	return all
}

func TestEveryPage(t *testing.T) {
	for _, lang := range []string{"en", "ar"} {
		for name, page := range pages(lang, "Some text") {
			t.Run(name+" "+lang, func(t *testing.T) {
				doc := render(t, lang, page)
				wellFormed(t, doc)
				html := doc.Find("html")
				if got, _ := html.Attr("lang"); got != lang {
					t.Errorf("lang %q", got)
				}
				if got, _ := html.Attr("dir"); got != i18n.Direction(lang) {
					t.Errorf("dir %q", got)
				}
			})
		}
	}
}

func TestHostileTextStaysText(t *testing.T) {
	for name, page := range pages("en", hostile) {
		t.Run(name, func(t *testing.T) {
			doc := render(t, "en", page)
			wellFormed(t, doc)
			if n := doc.Find("img:not([src^='/files/']), [onerror], script:not([src^='/static/'], [type='application/ld+json'])").Length(); n > 0 {
				t.Errorf("%d elements came out of text", n)
			}
		})
	}
}

// wellFormed checks what every page owes its readers and the content security
// policy: one heading of the first rank, unique ids, references that lead
// somewhere, controls with names, and nothing inline.
func wellFormed(t *testing.T, doc *goquery.Document) {
	t.Helper()
	if n := doc.Find("h1").Length(); n != 1 {
		t.Errorf("%d h1 elements", n)
	}
	if n := doc.Find("main#main").Length(); n != 1 {
		t.Errorf("%d main elements", n)
	}
	if strings.TrimSpace(doc.Find("head title").Text()) == "" {
		t.Error("no title")
	}
	if n := doc.Find("[style], style, script:not([src], [type='application/ld+json']), [onclick], [onsubmit], [hx-on], iframe, object, embed, base").Length(); n > 0 {
		t.Errorf("%d elements break the content security policy", n)
	}
	ids := map[string]bool{}
	doc.Find("[id]").Each(func(_ int, s *goquery.Selection) {
		id, _ := s.Attr("id")
		if ids[id] {
			t.Errorf("id %q twice", id)
		}
		ids[id] = true
	})
	for _, name := range []string{"for", "aria-labelledby", "aria-describedby", "aria-controls", "data-docent-chips", "data-docent-copy", "data-docent-reveal", "data-docent-notice"} {
		doc.Find("[" + name + "]").Each(func(_ int, s *goquery.Selection) {
			refs, _ := s.Attr(name)
			for ref := range strings.FieldsSeq(refs) {
				if !ids[ref] {
					t.Errorf("%s names the missing id %q", name, ref)
				}
			}
		})
	}
	doc.Find("input:not([type=hidden]), select, textarea").Each(func(_ int, s *goquery.Selection) {
		id, _ := s.Attr("id")
		_, labelled := s.Attr("aria-label")
		if !labelled && s.ParentsFiltered("label").Length() == 0 && (id == "" || doc.Find("label[for='"+id+"']").Length() == 0) {
			html, _ := goquery.OuterHtml(s)
			t.Errorf("control without a name: %s", html)
		}
	})
	doc.Find("button, a").Each(func(_ int, s *goquery.Selection) {
		label, _ := s.Attr("aria-label")
		if strings.TrimSpace(s.Text()+label) == "" {
			html, _ := goquery.OuterHtml(s)
			t.Errorf("without a name: %s", html)
		}
	})
	doc.Find("form[method=post]").Each(func(_ int, s *goquery.Selection) {
		if action, ok := s.Attr("action"); !ok || action == "" {
			t.Error("a form without an action")
		}
	})
}

func TestRunningConversationRefreshesWithoutScripts(t *testing.T) {
	page := AnswersPage{Site: site("en", "x"), Title: "Answers", Main: []components.BlockProps{{Answer: &components.AnswerProps{ID: answerID, Action: "/q", Label: "x"}}}}
	for _, running := range []bool{true, false} {
		page.Running = running
		doc := render(t, "en", Answers(page))
		// Inside noscript the parser sees text: scripts are on for it.
		if got := strings.Contains(doc.Find("head noscript").Text(), `http-equiv="refresh"`); got != running {
			t.Errorf("running %v: refresh %v", running, got)
		}
	}
}

func TestPublicPagesShowNoVisitor(t *testing.T) {
	s := site("en", "x")
	s.AccountName, s.CSRF = "account-name", "csrf-token"
	for name, c := range map[string]templ.Component{
		"entity":  Entity(EntityPage{Site: s, Title: "T"}),
		"listing": Listing(ListingPage{Site: s, Title: "T"}),
		"answers": Answers(AnswersPage{Site: s, Title: "T", Main: []components.BlockProps{{Answer: &components.AnswerProps{ID: answerID}}}}),
		"error":   Error(ErrorPage{Site: s, Status: 404}),
	} {
		var buf bytes.Buffer
		if err := c.Render(context.Background(), &buf); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(buf.Bytes(), []byte("account-name")) || bytes.Contains(buf.Bytes(), []byte("csrf-token")) {
			t.Errorf("%s shows who is signed in", name)
		}
	}
}

func TestAdministrativeFormsCarryTheToken(t *testing.T) {
	for name, page := range pages("en", "token") {
		doc := render(t, "en", page)
		if doc.Find(".admin, .login").Length() == 0 {
			continue
		}
		doc.Find("form[method=post]").Each(func(_ int, s *goquery.Selection) {
			if s.Find("input[name=csrf_token][value=token]").Length() != 1 {
				action, _ := s.Attr("action")
				t.Errorf("%s: the form to %q has no token", name, action)
			}
		})
	}
}

// A page that differs from itself could not be revalidated by its entity tag.
func TestRenderingIsStable(t *testing.T) {
	for name, page := range pages("en", "Some text") {
		var first, second bytes.Buffer
		for _, buf := range []*bytes.Buffer{&first, &second} {
			if err := page.Render(context.Background(), buf); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s renders differently each time", name)
		}
	}
}

func TestErrorNotice(t *testing.T) {
	doc := render(t, "en", ErrorNotice(http.StatusTooManyRequests, ""))
	if doc.Find(".notice--wait[role=status]").Length() != 1 {
		t.Error("429 is not a waiting notice")
	}
	doc = render(t, "en", ErrorNotice(http.StatusUnprocessableEntity, "Too long."))
	if doc.Find(".notice--danger[role=alert] p").Text() != "Too long." {
		t.Error("the message is not shown")
	}
}

func TestFontsOfTheLanguageComeEarly(t *testing.T) {
	latin := "noto-sans-latin-wght-normal newsreader-latin-600-normal"
	for lang, want := range map[string]string{"en": latin, "pt-BR": latin, "ar": "noto-sans-arabic-arabic-400-normal noto-naskh-arabic-arabic-600-normal", "zh-Hant": ""} {
		doc := render(t, lang, Search(SearchPage{Site: site(lang, "x"), Action: "/search"}))
		early := doc.Find("link[rel=preload][as=font][crossorigin]")
		for _, name := range strings.Fields(want) {
			if early.Filter(`[href="`+static.URL("vendor/fonts/"+name+".woff2")+`"]`).Length() != 1 {
				t.Errorf("%s: %s comes late", lang, name)
			}
		}
		if early.Length() != len(strings.Fields(want)) {
			t.Errorf("%s: %d fonts come early", lang, early.Length())
		}
	}
}

func TestEmptySearchSaysWhatWasSought(t *testing.T) {
	doc := render(t, "en", Search(SearchPage{Site: site("en", "x"), Action: "/search", Query: "wheel", Searched: true}))
	if got := doc.Find(".notice strong").Text(); got != "Nothing found for “wheel”." {
		t.Errorf("notice %q", got)
	}
	doc = render(t, "en", Search(SearchPage{Site: site("en", "x"), Action: "/search"}))
	if doc.Find(".notice").Length() != 0 {
		t.Error("a search that was not made found nothing")
	}
}

func BenchmarkEntity(b *testing.B) {
	page := pages("en", "Some text")["entity"]
	var buf bytes.Buffer
	for b.Loop() {
		buf.Reset()
		if err := page.Render(context.Background(), &buf); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(buf.Len()))
}

// editPage is an edit form with every kind of widget.
func editPage(admin Admin, text string, links []components.Link, at time.Time) NodeEditPage {
	p := NodeEditPage{
		NodeFrame: NodeFrame{Admin: admin, Title: text, TypeLabel: text, Lang: "en", State: "draft", NewDraft: true, Tabs: []AdminItem{{Label: text, URL: "/t", Current: true}}, Saved: text},
		Action:    "/a", FormID: text, KeepURL: "/k", Forget: text, BasedOn: text, TitleLabel: "Title", TitleValue: text, TitleError: text, TitleSource: text, SourceLang: "ar",
		Complaints: []components.Link{{Label: text, URL: "#f-title-0"}}, Kept: &KeptNotice{At: at, DiscardURL: "/d"},
		Conflict: &NodeConflict{Author: text, At: at, CompareURL: "/c", Fields: []ConflictField{{Name: text, Label: text, Theirs: []DiffPiece{{"added", text}}}}},
		Side: NodeSide{StateText: text, IsNode: true, Path: text, Menus: []components.Option{{Value: "main", Label: text}}, Menu: "main", MenuTitle: text, Parents: []components.Option{{Value: "a", Label: text}},
			Date: text, Weight: text, Roles: []RoleChoice{{Name: text, Label: text, Chosen: true}}, Message: text, Author: text, Created: at, Errors: map[string]string{"path": text, "view_roles": text}},
		Translations: []TranslationLink{{Label: "English", Code: "en", URL: "/en", State: "draft", Current: true}, {Label: text, Code: "ar", URL: "/ar"}},
		CanPublish:   true, CanDraft: true, ViewURL: "/v", ArchiveURL: "/x", UnpublishURL: "/y", DeleteURL: "/z",
	}
	options := []components.Option{{Value: text, Label: text}, {Value: "b", Label: "B"}}
	for i, kind := range []components.WidgetKind{
		components.WidgetLine, components.WidgetLong, components.WidgetMarkup, components.WidgetCheck, components.WidgetNumber, components.WidgetDate, components.WidgetDateRange,
		components.WidgetLink, components.WidgetSelect, components.WidgetRadios, components.WidgetChecks, components.WidgetMedium, components.WidgetReference, components.WidgetComponents,
	} {
		w := components.Widget{
			Name: string(kind), Label: text, Help: text, Error: text, Kind: kind, Multiple: i%2 == 1, More: true, Lang: "ar", Options: options, Formats: options, Blocks: options,
			SuggestURL: "/s", PickerURL: "/m", Source: text, SourceLang: "en", Shared: true,
			Rows: []components.WidgetRow{{Key: "0", Value: text, End: text, Format: text, Label: text, Detail: text, Image: "/files/i", Alt: text, HasAlt: true, Kind: "text", Error: text, Choices: options}},
		}
		if w.Multiple {
			w.Rows = append(w.Rows, components.WidgetRow{Key: "1", Value: text, Kind: "b", Closed: true})
		}
		p.Widgets = append(p.Widgets, w)
	}
	return p
}
