package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"docent/internal/llm/llmtest"
)

// A card in the list of sources shows its entity in the agent's view mode, as the
// reader may see it, and every link in it opens in a new tab and says so.
func TestSourceCardsShowTheirEntity(t *testing.T) {
	model := llmtest.NewFakeOpenAI(llmtest.Stream("The plant sale is in spring [1]."), llmtest.Stream("It is in the yard [1]."))
	defer model.Close()
	env := map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake"}
	eachDatabase(t, env, func(t *testing.T, s *testSite) {
		c := client(t)
		res, _ := s.do(c, "POST", "/ai-answers/question", url.Values{"agent": {"site"}, "question": {"When is the plant sale?"}}.Encode(),
			"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html", "Sec-Fetch-Site", "same-origin")
		conversation := res.Header.Get("Location")
		_, page := s.get(c, conversation, "Accept", "text/html")
		_, fragment := s.get(c, conversation, "HX-Request", "true")
		for name, body := range map[string]string{"page": page, "fragment": fragment} {
			doc := parse(t, strings.NewReplacer("<hx-partial", "<div", "</hx-partial", "</div").Replace(body))
			card := doc.Find("[data-docent-source='1']")
			if card.Length() != 1 || strings.TrimSpace(card.Find(".d-source__entity").Text()) == "" {
				t.Errorf("%s: the card is\n%s", name, card.Text())
			}
			card.Find("a").Each(func(_ int, a *goquery.Selection) {
				if a.AttrOr("target", "") != "_blank" || !strings.Contains(a.Text(), "new tab") {
					t.Errorf("%s: the link %q does not open in a new tab and say so", name, a.Text())
				}
			})
		}
	})
}
