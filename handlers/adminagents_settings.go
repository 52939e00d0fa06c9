package handlers

import (
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// answerSettings handles GET /admin/config/ai/ai-answers.
func (h *Handlers) answerSettings(c echo.Context) error {
	s, err := config.Get[config.AnswerSettings](c.Request().Context(), h.Config, config.SiteName)
	if err != nil {
		return err
	}
	return h.answerSettingsForm(c, http.StatusOK, s, priceLines(s.Prices), nil)
}

func (h *Handlers) answerSettingsForm(c echo.Context, status int, s config.AnswerSettings, prices string, refused map[string]string) error {
	ctx := c.Request().Context()
	number := func(name, label, help string, value int) views.Control {
		return views.Control{FieldProps: components.FieldProps{ID: "answers-" + name, Name: name, Type: "number", Label: label, Help: help, Value: strconv.Itoa(value)}}
	}
	mask := views.Control{Kind: views.ControlCheck, FieldProps: components.FieldProps{ID: "answers-mask", Name: "mask_personal", Value: "yes",
		Label: i18n.T(ctx, "answer_settings.mask"), Help: i18n.T(ctx, "answer_settings.mask_help")}}
	if s.MaskPersonal {
		mask.Chosen = []string{"yes"}
	}
	shortcut := views.Control{Kind: views.ControlCheck, FieldProps: components.FieldProps{ID: "answers-shortcut", Name: "shortcut", Value: "yes",
		Label: i18n.T(ctx, "answer_settings.shortcut"), Help: i18n.T(ctx, "answer_settings.shortcut_help")}}
	if s.Shortcut {
		shortcut.Chosen = []string{"yes"}
	}
	page := views.FormPage{Admin: h.admin(c), Title: i18n.T(ctx, "answer_settings.title"), Action: answersConfigURL, Groups: []views.FormGroup{
		{Title: i18n.T(ctx, "answer_settings.records"), Controls: []views.Control{
			number("retention_days", i18n.T(ctx, "answer_settings.retention"), i18n.T(ctx, "answer_settings.retention_help"), s.RetentionDays), mask}},
		{Title: i18n.T(ctx, "answer_settings.limits"), Controls: []views.Control{
			number("per_minute", i18n.T(ctx, "answer_settings.per_minute"), i18n.T(ctx, "answer_settings.per_minute_help"), s.PerMinute)}},
		{Title: i18n.T(ctx, "answer_settings.asking"), Controls: []views.Control{shortcut}},
		{Title: i18n.T(ctx, "answer_settings.prices"), Controls: []views.Control{
			{Kind: views.ControlArea, Rows: 4, FieldProps: components.FieldProps{ID: "answers-prices", Name: "prices", Label: i18n.T(ctx, "answer_settings.prices_label"),
				Help: i18n.T(ctx, "answer_settings.prices_help"), Value: prices, Placeholder: "gpt-4.1 2.00 8.00", Optional: true}},
			{FieldProps: components.FieldProps{ID: "answers-currency", Name: "currency", Label: i18n.T(ctx, "answer_settings.currency"), Value: s.Currency, MaxLength: 12, Placeholder: "EUR", Optional: true}}}},
	}}
	languages, err := config.Languages(ctx, h.Config)
	if err != nil {
		return err
	}
	texts := views.FormGroup{Title: i18n.T(ctx, "answer_settings.texts"), Intro: i18n.T(ctx, "answer_settings.texts_help")}
	for _, l := range languages {
		texts.Controls = append(texts.Controls,
			views.Control{Lang: l.Name, FieldProps: components.FieldProps{ID: "answers-label-" + l.Name, Name: "ai_label." + l.Name,
				Label: i18n.T(ctx, "answer_settings.ai_label", l.Value.Label), Value: s.AILabel[l.Name], MaxLength: 2000, Optional: true}},
			views.Control{Lang: l.Name, Kind: views.ControlArea, Rows: 3, FieldProps: components.FieldProps{ID: "answers-privacy-" + l.Name, Name: "privacy_note." + l.Name,
				Label: i18n.T(ctx, "answer_settings.privacy", l.Value.Label), Value: s.PrivacyNote[l.Name], MaxLength: 2000, Optional: true}})
	}
	page.Groups = append(page.Groups, texts)
	refuseControls(page.Groups, refused)
	return h.render(c, status, views.Form(page))
}

// saveAnswerSettings handles POST /admin/config/ai/ai-answers.
func (h *Handlers) saveAnswerSettings(c echo.Context) error {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	s, err := config.Get[config.AnswerSettings](ctx, h.Config, config.SiteName)
	if err != nil {
		return err
	}
	refused := map[string]string{}
	for field, into := range map[string]*int{"retention_days": &s.RetentionDays, "per_minute": &s.PerMinute} {
		if *into, err = strconv.Atoi(strings.TrimSpace(form.Get(field))); err != nil {
			refused[field] = i18n.T(ctx, "form.whole_number")
		}
	}
	s.Shortcut = form.Get("shortcut") != ""
	s.MaskPersonal, s.Currency = form.Get("mask_personal") != "", strings.TrimSpace(form.Get("currency"))
	s.AILabel, s.PrivacyNote = maps.Clone(s.AILabel), maps.Clone(s.PrivacyNote)
	for _, lang := range h.Content.Languages() {
		s.AILabel = withText(s.AILabel, lang, form, "ai_label")
		s.PrivacyNote = withText(s.PrivacyNote, lang, form, "privacy_note")
	}
	s.Prices = nil
	for line := range strings.Lines(form.Get("prices")) {
		parts := strings.Fields(line)
		if len(parts) == 0 {
			continue
		}
		if len(parts) != 3 {
			refused["prices"] = i18n.T(ctx, "answer_settings.prices_shape", strings.TrimSpace(line))
			break
		}
		input, err1 := strconv.ParseFloat(parts[1], 64)
		output, err2 := strconv.ParseFloat(parts[2], 64)
		if err1 != nil || err2 != nil {
			refused["prices"] = i18n.T(ctx, "answer_settings.prices_shape", strings.TrimSpace(line))
			break
		}
		s.Prices = append(s.Prices, config.ModelPrice{Model: parts[0], Input: input, Output: output})
	}
	if len(refused) == 0 {
		err = config.Put(ctx, h.Config, config.SiteName, s, h.account(c).ID)
		if refused = refusedFields(err); refused == nil && err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		return h.answerSettingsForm(c, http.StatusUnprocessableEntity, s, form.Get("prices"), refused)
	}
	return c.Redirect(http.StatusSeeOther, answersConfigURL+"?done=saved")
}

// priceLines are prices one a line: model, input, output.
func priceLines(prices []config.ModelPrice) string {
	var b strings.Builder
	for _, p := range prices {
		b.WriteString(p.Model + " " + strconv.FormatFloat(p.Input, 'f', -1, 64) + " " + strconv.FormatFloat(p.Output, 'f', -1, 64) + "\n")
	}
	return b.String()
}
