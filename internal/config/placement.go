package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"docent/internal/account"
)

// The blocks that can be placed.
const (
	BlockQuestion = "question"
	BlockAnswer   = "answer"
	BlockSources  = "sources"
)

// BlockNames lists the blocks in the order in which they are offered.
func BlockNames() []string { return []string{BlockQuestion, BlockAnswer, BlockSources} }

// Region is a place on every page of the site that blocks are put in.
type Region string

// The regions, from the top of a page to its foot.
const (
	RegionTop     Region = "top"     // below the masthead, as wide as the page
	RegionBefore  Region = "before"  // above what the page is about
	RegionContent Region = "content" // among the fields that the page's display shows
	RegionAside   Region = "aside"   // beside them; after them where there is no room
	RegionAfter   Region = "after"   // below them
	RegionBottom  Region = "bottom"  // above the foot, as wide as the page
)

// Regions lists the regions in the order of the page.
func Regions() []Region {
	return []Region{RegionTop, RegionBefore, RegionContent, RegionAside, RegionAfter, RegionBottom}
}

// The shapes of a Question block.
const (
	DisplayBand = "band" // across the page, with note and suggestions
	DisplayLine = "line" // one quiet line
)

// A Block is the configuration of one placed block, wherever it is placed: exactly
// one of its parts is set.
type Block struct {
	Question *QuestionBlock `json:"question,omitempty"`
	Answer   *AnswerBlock   `json:"answer,omitempty"`
	Sources  *SourcesBlock  `json:"sources,omitempty"`
}

// A QuestionBlock is where visitors ask.
type QuestionBlock struct {
	Target      string              `json:"target,omitempty"`      // DOM id of the Answer block that answers
	TargetPath  string              `json:"target_path,omitempty"` // page of that block, for use where it is not on the same one
	Display     string              `json:"display,omitempty"`     // DisplayBand or DisplayLine; empty: a line
	Label       map[string]string   `json:"label,omitempty"`       // by language, as the texts below; empty: the interface's own
	Placeholder map[string]string   `json:"placeholder,omitempty"`
	Button      map[string]string   `json:"button,omitempty"`
	Suggestions map[string][]string `json:"suggestions,omitempty"` // questions to choose from; in a band without any: the site's
	Autofocus   bool                `json:"autofocus,omitempty"`   // the field has the focus when the page opens
}

// An AnswerBlock is where answers grow.
type AnswerBlock struct {
	Agent           string              `json:"agent"`
	FollowUp        bool                `json:"follow_up"`  // visitors can ask on below an answer
	References      bool                `json:"references"` // the block lists the sources itself
	ReferencesLabel map[string]string   `json:"references_label,omitempty"`
	Feedback        bool                `json:"feedback"`              // answers can be rated, if the agent allows it too
	Empty           map[string]string   `json:"empty,omitempty"`       // said before the first question
	Suggestions     map[string][]string `json:"suggestions,omitempty"` // questions to choose from before the first
}

// A SourcesBlock lists the sources of an Answer block anywhere on its page.
type SourcesBlock struct {
	Target string            `json:"target"` // DOM id of the Answer block
	Label  map[string]string `json:"label,omitempty"`
}

// Name says which block it is, "" when none is set.
func (b Block) Name() string {
	switch {
	case b.Question != nil:
		return BlockQuestion
	case b.Answer != nil:
		return BlockAnswer
	case b.Sources != nil:
		return BlockSources
	}
	return ""
}

// NewBlock returns a block with the settings it starts with. Unknown names give
// a block without any part.
func NewBlock(name string) Block {
	switch name {
	case BlockQuestion:
		return Block{Question: &QuestionBlock{Display: DisplayLine}}
	case BlockAnswer:
		return Block{Answer: &AnswerBlock{Agent: SiteName, FollowUp: true, References: true, Feedback: true}}
	case BlockSources:
		return Block{Sources: &SourcesBlock{}}
	}
	return Block{}
}

// ParseBlock reads the settings of a block as content keeps them: an object of
// JSON. Settings that it does not name are as in [NewBlock].
func ParseBlock(name string, settings map[string]any) (Block, error) {
	b := NewBlock(name)
	var part any
	switch name {
	case BlockQuestion:
		part = b.Question
	case BlockAnswer:
		part = b.Answer
	case BlockSources:
		part = b.Sources
	default:
		return b, fmt.Errorf("there is no block called %q", name)
	}
	data, err := json.Marshal(settings)
	if err != nil || len(settings) == 0 {
		return b, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(part); err != nil {
		for field, message := range jsonMessage(err) {
			return b, fmt.Errorf("its setting %q %s", field, message)
		}
	}
	c := &check{objects: &snapshot{}, fields: map[string]string{}}
	b.check(c)
	delete(c.fields, "agent") // agents come and go; without one the block says so
	if len(c.fields) > 0 {
		return b, &InvalidError{Fields: c.fields}
	}
	return b, nil
}

// Settings is the other way round from [ParseBlock].
func (b Block) Settings() map[string]any {
	var part any
	switch b.Name() {
	case BlockQuestion:
		part = b.Question
	case BlockAnswer:
		part = b.Answer
	case BlockSources:
		part = b.Sources
	}
	data, err := json.Marshal(part)
	settings := map[string]any{}
	if err == nil {
		err = json.Unmarshal(data, &settings)
	}
	if err != nil { // both are plain data
		panic(err)
	}
	return settings
}

// A Placement puts a block on pages. Its object's name is for people; pages and
// other blocks know it by its UUID.
type Placement struct {
	UUID       string     `json:"uuid"`
	Label      string     `json:"label"` // for administrators
	Region     Region     `json:"region"`
	After      string     `json:"after,omitempty"` // in RegionContent: the field it stands below; empty: above all
	Weight     int        `json:"weight"`          // order in the region
	Visibility Visibility `json:"visibility"`
	Block
}

// Visibility says on which pages, and to whom, a placed block is shown. What is
// empty does not limit.
type Visibility struct {
	Paths     []string `json:"paths,omitempty"`  // with everything below those that end in a slash
	Except    []string `json:"except,omitempty"` // the same, for pages left out
	Types     []string `json:"types,omitempty"`  // content types of the pages
	Languages []string `json:"languages,omitempty"`
	Roles     []string `json:"roles,omitempty"` // of the visitor: one is enough
}

// Kind implements [Object].
func (Placement) Kind() string { return "placement" }

// DOMID is the id of the block on a page: "ai-answers-answer-" and the UUID.
func (p Placement) DOMID() string { return BlockDOMID(p.Name(), p.UUID) }

// BlockDOMID is the id that a block with a UUID has on a page.
func BlockDOMID(block, uuid string) string { return "ai-answers-" + block + "-" + uuid }

var blockUUID = regexp.MustCompile(`^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$`)

// AnswerUUID is the UUID of the Answer block that has a DOM id; ok is false when no
// Answer block can have it.
func AnswerUUID(domID string) (uuid string, ok bool) {
	uuid, ok = strings.CutPrefix(domID, BlockDOMID(BlockAnswer, ""))
	return uuid, ok && blockUUID.MatchString(uuid)
}

// Shows reports whether the block is shown on a page: path without the prefix of
// a language, bundle "" for pages that no entity makes.
func (v Visibility) Shows(path, bundle, lang string, who account.Account) bool {
	return (len(v.Paths) == 0 || slices.ContainsFunc(v.Paths, covers(path))) &&
		!slices.ContainsFunc(v.Except, covers(path)) &&
		(len(v.Types) == 0 || slices.Contains(v.Types, bundle)) &&
		(len(v.Languages) == 0 || slices.Contains(v.Languages, lang)) &&
		(len(v.Roles) == 0 || slices.ContainsFunc(v.Roles, who.HasRole))
}

// covers tells of a pattern whether it is for a path: "/visit" for that page alone,
// "/visit/" for it and everything below, "/" for the front page alone.
func covers(path string) func(pattern string) bool {
	return func(pattern string) bool {
		bare := strings.TrimSuffix(pattern, "/")
		return strings.TrimSuffix(path, "/") == bare ||
			bare != "" && bare != pattern && strings.HasPrefix(path, pattern)
	}
}

func (p Placement) check(c *check) {
	c.required("label", p.Label, labelLimit)
	if !blockUUID.MatchString(p.UUID) {
		c.refuse("uuid", "must be a UUID in small letters")
	}
	for name, o := range c.objects.objects[p.Kind()] {
		if other, ok := o.value.(Placement); ok && name != c.self && other.UUID == p.UUID {
			c.refuse("uuid", "is that of the block %q", other.Label)
		}
	}
	if !slices.Contains(Regions(), p.Region) {
		c.refuse("region", "must be one of the page's regions")
	}
	if p.After != "" && (p.Region != RegionContent || !objectName.MatchString(p.After)) {
		c.refuse("after", "must be the name of a field, and is for the region %s only", RegionContent)
	}
	c.within("weight", p.Weight, -1000, 1000)
	for field, paths := range map[string][]string{"paths": p.Visibility.Paths, "except": p.Visibility.Except} {
		for _, path := range paths {
			c.path(field, path)
		}
	}
	for _, bundle := range p.Visibility.Types {
		if !objectName.MatchString(bundle) {
			c.refuse("types", "has %q, which is not the name of a content type", bundle)
		}
	}
	for _, lang := range p.Visibility.Languages {
		c.languageCode("languages", lang)
	}
	for _, role := range p.Visibility.Roles {
		if !c.exists(Role{}.Kind(), role) {
			c.refuse("roles", "must be names of roles; there is none called %q", role)
		}
	}
	p.Block.check(c)
}

// path checks a path on this site.
func (c *check) path(field, path string) {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\ \t\r\n?#") {
		c.refuse(field, "has %q; each must be a path on this site that starts with one slash, such as /visit/", path)
	}
	c.text(field, path, textLimit)
}

// answerBlock checks the DOM id of an Answer block, which need not be there yet.
func (c *check) answerBlock(field, domID string) {
	if _, ok := AnswerUUID(domID); !ok {
		c.refuse(field, "must name an Answer block")
	}
}

func (b Block) check(c *check) {
	parts := 0
	if q := b.Question; q != nil {
		parts++
		q.check(c)
	}
	if a := b.Answer; a != nil {
		parts++
		if !c.exists(Agent{}.Kind(), a.Agent) {
			c.refuse("agent", "must be the name of an agent; there is none called %q", a.Agent)
		}
		c.byLanguage("references_label", a.ReferencesLabel)
		c.byLanguage("empty", a.Empty)
		c.questions("suggestions", a.Suggestions)
	}
	if s := b.Sources; s != nil {
		parts++
		c.answerBlock("target", s.Target)
		c.byLanguage("label", s.Label)
	}
	if parts != 1 {
		c.refuse("block", "must be one of: %s", strings.Join(BlockNames(), ", "))
	}
}

func (q QuestionBlock) check(c *check) {
	c.answerBlock("target", q.Target)
	if q.TargetPath != "" {
		c.path("target_path", q.TargetPath)
	}
	switch q.Display {
	case "", DisplayBand, DisplayLine:
	default:
		c.refuse("display", "must be %s or %s", DisplayBand, DisplayLine)
	}
	c.byLanguage("label", q.Label)
	c.byLanguage("placeholder", q.Placeholder)
	c.byLanguage("button", q.Button)
	c.questions("suggestions", q.Suggestions)
}

// ByUUID finds the placement with a UUID among all.
func ByUUID(all []Named[Placement], uuid string) (Named[Placement], bool) {
	i := slices.IndexFunc(all, func(p Named[Placement]) bool { return p.Value.UUID == uuid })
	if i < 0 {
		return Named[Placement]{}, false
	}
	return all[i], true
}

// placedWith names a placed Answer block that an agent answers in, "" when there
// is none.
func (s *snapshot) placedWith(agent string) string {
	for _, o := range s.objects[Placement{}.Kind()] {
		if p, ok := o.value.(Placement); ok && p.Answer != nil && p.Answer.Agent == agent {
			return p.Label
		}
	}
	return ""
}

// The UUIDs of the blocks that a new site starts with.
const (
	siteQuestionUUID    = "0192a4c0-5d00-7000-8000-000000000001"
	answersQuestionUUID = "0192a4c0-5d00-7000-8000-000000000002"
	siteAnswerUUID      = "0192a4c0-5d00-7000-8000-000000000003"
	siteSourcesUUID     = "0192a4c0-5d00-7000-8000-000000000004"
)

// AnswersPath is the page of a new site on which the three blocks stand.
const AnswersPath = "/answers"

// SiteAnswerID is the DOM id of the Answer block that a new site has there.
const SiteAnswerID = "ai-answers-answer-" + siteAnswerUUID

// ShippedPlacements returns the blocks that a new site starts with: a box to ask
// in on every page, and a page that answers.
func ShippedPlacements() []Named[Placement] {
	answers := Visibility{Paths: []string{AnswersPath}}
	return []Named[Placement]{
		{"site_question", Placement{UUID: siteQuestionUUID, Label: "Question on every page", Region: RegionTop, Visibility: Visibility{Except: answers.Paths},
			Block: Block{Question: &QuestionBlock{Target: SiteAnswerID, TargetPath: AnswersPath, Display: DisplayBand}}}},
		{"answers_question", Placement{UUID: answersQuestionUUID, Label: "Question on the answers page", Region: RegionTop, Visibility: answers,
			Block: Block{Question: &QuestionBlock{Target: SiteAnswerID, Display: DisplayLine}}}},
		{"site_answer", Placement{UUID: siteAnswerUUID, Label: "Answers", Region: RegionContent, Visibility: answers,
			Block: Block{Answer: &AnswerBlock{Agent: SiteName, FollowUp: true, Feedback: true}}}},
		{"site_sources", Placement{UUID: siteSourcesUUID, Label: "Sources of the answers", Region: RegionAside, Visibility: answers,
			Block: Block{Sources: &SourcesBlock{Target: SiteAnswerID}}}},
	}
}
