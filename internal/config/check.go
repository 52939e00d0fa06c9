package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // time zones are known on machines without a database of them
	"unicode/utf8"

	"golang.org/x/text/language"

	"docent/internal/account"
)

// Lengths of text, in characters.
const (
	labelLimit  = 120
	textLimit   = 2000
	promptLimit = 20000
)

var (
	objectName   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	languageName = regexp.MustCompile(`^[a-z]{2,3}(-[a-z0-9]{2,8})*$`)
)

// check collects what is wrong with an object that is about to be stored.
type check struct {
	objects *snapshot
	self    string // name of the object
	fields  map[string]string
}

// refuse keeps the first complaint about a field.
func (c *check) refuse(field, format string, args ...any) {
	if _, refused := c.fields[field]; !refused {
		c.fields[field] = fmt.Sprintf(format, args...)
	}
}

func (c *check) exists(kind, name string) bool {
	_, ok := c.objects.objects[kind][name]
	return ok
}

func (c *check) name(kind, name string) {
	switch kind {
	case Language{}.Kind():
		if _, err := language.Parse(name); err != nil || !languageName.MatchString(name) {
			c.refuse("name", "must be a language code in lower case, such as en or pt-br")
		}
	case Settings{}.Kind(), AnswerSettings{}.Kind():
		if name != SiteName {
			c.refuse("name", "must be %s", SiteName)
		}
	default:
		if !objectName.MatchString(name) {
			c.refuse("name", "must start with a letter and have only small letters, digits and underscores, 63 at most")
		}
	}
}

func (c *check) within(field string, n, least, most int) {
	if n < least || n > most {
		c.refuse(field, "must be from %d to %d", least, most)
	}
}

// required checks a text that must say something.
func (c *check) required(field, text string, limit int) {
	if strings.TrimSpace(text) == "" {
		c.refuse(field, "must not be empty")
	}
	c.text(field, text, limit)
}

// line checks a name that another system gave.
func (c *check) line(field, text string) {
	c.text(field, text, labelLimit*2)
	if strings.ContainsAny(text, "\r\n\t") {
		c.refuse(field, "must be one line")
	}
}

func (c *check) text(field, text string, limit int) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		c.refuse(field, "has characters that cannot be stored")
	}
	if utf8.RuneCountInString(text) > limit {
		c.refuse(field, "must have %d characters at most", limit)
	}
}

// byLanguage checks texts given per language. Content may come in a language
// before the language is added, so any language code will do.
func (c *check) byLanguage(field string, texts map[string]string) {
	for _, lang := range slices.Sorted(maps.Keys(texts)) {
		c.languageCode(field, lang)
		c.text(field, texts[lang], textLimit)
	}
}

// questions checks questions to choose from, per language.
func (c *check) questions(field string, questions map[string][]string) {
	for _, lang := range slices.Sorted(maps.Keys(questions)) {
		c.languageCode(field, lang)
		if len(questions[lang]) > 12 {
			c.refuse(field, "must be 12 questions at most in a language")
		}
		for _, q := range questions[lang] {
			c.required(field, q, 200)
		}
	}
}

func (c *check) languageCode(field, lang string) {
	if !languageName.MatchString(lang) {
		c.refuse(field, "has %q, which is not a language code", lang)
	}
}

// Kind implements [Object].
func (Index) Kind() string { return "index" }

func (i Index) check(c *check) {
	c.required("label", i.Label, labelLimit)
	for _, bundle := range i.Bundles {
		if !objectName.MatchString(bundle) {
			c.refuse("bundles", "has %q, which is not the name of a content type", bundle)
		}
	}
	for _, lang := range i.Languages {
		c.languageCode("languages", lang)
	}
}

// Kind implements [Object].
func (Role) Kind() string { return "role" }

func (r Role) check(c *check) {
	c.required("label", r.Label, labelLimit)
	for _, p := range r.Permissions {
		if !c.objects.isPermission(p) {
			c.refuse("permissions", "has %q, which is not a permission", p)
		}
	}
}

// Kind implements [Object].
func (Language) Kind() string { return "language" }

func (l Language) check(c *check) {
	c.required("label", l.Label, labelLimit)
	c.within("weight", l.Weight, -1000, 1000)
}

// Kind implements [Object].
func (Settings) Kind() string { return "settings" }

func (s Settings) check(c *check) {
	c.required("site_name", s.SiteName, labelLimit)
	c.byLanguage("tagline", s.Tagline)
	c.byLanguage("footer", s.Footer)
	if !c.exists(Language{}.Kind(), s.DefaultLanguage) {
		c.refuse("default_language", "must be one of the site's languages")
	}
	if _, err := time.LoadLocation(s.TimeZone); err != nil || s.TimeZone == "" || s.TimeZone == "Local" {
		c.refuse("time_zone", "must be the name of a time zone, such as Europe/Dublin")
	}
	if p := s.ContactPath; p != "" && (!strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") || strings.ContainsAny(p, "\\ \t\r\n")) {
		c.refuse("contact_path", "must be a path on this site that starts with one slash, such as /contact")
	}
	c.text("contact_path", s.ContactPath, labelLimit*4)
	c.questions("suggestions", s.Suggestions)
	for field, limit := range map[string]int{"image_limit": s.ImageLimit, "document_limit": s.DocumentLimit} {
		if limit < 0 || limit > 200 {
			c.refuse(field, "must be a number of megabytes from 1 to 200")
		}
	}
	for _, bundle := range s.OutOfAnswers {
		if !objectName.MatchString(bundle) {
			c.refuse("out_of_answers", "has %q, which is not the name of a content type", bundle)
		}
	}
}

// mayDelete tells what keeps an object from being deleted.
func (s *snapshot) mayDelete(kind, name string) error {
	switch kind {
	case Settings{}.Kind(), AnswerSettings{}.Kind():
		return ErrRequired
	case SiteContext{}.Kind():
		if agent := s.contextUser(name); agent != "" {
			return &InvalidError{Fields: map[string]string{"": "is used by the agent " + agent}}
		}
	case Role{}.Kind():
		if name == account.RoleAnonymous || name == account.RoleAuthenticated || name == account.RoleAdministrator {
			return ErrRequired
		}
	case Language{}.Kind():
		settings, err := s.get(Settings{}.Kind(), SiteName)
		if err != nil {
			return err
		}
		if settings.(Settings).DefaultLanguage == name {
			return ErrRequired
		}
	case TextFormat{}.Kind():
		if name == FormatMarkdown {
			return ErrRequired
		}
		if label, used := s.formatUser(name); used {
			return &InvalidError{Fields: map[string]string{"": fmt.Sprintf("is a format of the type %q", label)}}
		}
	case Agent{}.Kind():
		if label := s.placedWith(name); label != "" {
			return &InvalidError{Fields: map[string]string{"": fmt.Sprintf("answers in the block %q", label)}}
		}
	case Index{}.Kind():
		for _, agent := range slices.Sorted(maps.Keys(s.objects[Agent{}.Kind()])) {
			if a, ok := s.objects[Agent{}.Kind()][agent].value.(Agent); ok && a.Index == name {
				return &InvalidError{Fields: map[string]string{"": fmt.Sprintf("is used by the agent %q", agent)}}
			}
		}
	}
	return nil
}
