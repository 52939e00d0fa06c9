package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// Endings of the inputs of a block among the parts of a page, which is kept whole
// in the input without one: whether its settings are in the form, and what they
// begin with.
const (
	settingsInForm = ".set"
	settingsPrefix = ".b."
)

// newBlockPart is a block of a kind as it is added to the parts of a page: with an
// id of its own, and belonging to the Answer block that is on the page already.
func (f *nodeForm) newBlockPart(kind string) string {
	target := config.SiteAnswerID
	if answers := f.answersInForm(); len(answers) > 0 {
		target = answers[0]
	}
	block := config.NewBlock(kind)
	switch {
	case block.Question != nil:
		block.Question.Target = target
	case block.Sources != nil:
		block.Sources.Target = target
	case block.Answer == nil:
		return ""
	}
	part, _ := json.Marshal(map[string]any{"uuid": uuid.Must(uuid.NewV7()).String(), "settings": block.Settings()}) // plain data
	return string(part)
}

// answersInForm are the DOM ids of the Answer blocks among the parts of the page,
// as the form says.
func (f *nodeForm) answersInForm() []string {
	var out []string
	for _, field := range f.typ.Fields {
		if field.Type != config.FieldComponents {
			continue
		}
		for _, key := range f.keys(field.Name) {
			name := input(field.Name, key)
			if f.values.Get(name+".kind") != config.BlockAnswer {
				continue
			}
			part, _, _ := f.readBlock(name)
			if id := config.BlockDOMID(config.BlockAnswer, asText(part["uuid"])); !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// readBlock reads a block among the parts of a page: the part as content keeps it,
// the block that it is, and why it cannot be one.
func (f *nodeForm) readBlock(name string) (map[string]any, config.Block, error) {
	part := map[string]any{}
	if json.Unmarshal([]byte(f.values.Get(name)), &part) != nil || part == nil {
		part = map[string]any{}
	}
	kind := f.values.Get(name + ".kind")
	part["type"], part["block"] = "block", kind
	settings, _ := part["settings"].(map[string]any)
	block, err := config.ParseBlock(kind, settings)
	if f.values.Has(name+settingsInForm) && block.Name() != "" {
		in := blockInputs{name: name + settingsPrefix, languages: []config.Named[config.Language]{{Name: f.lang}}}
		block = in.posted(f.values, block)
		part["settings"] = block.Settings()
		_, err = config.ParseBlock(kind, block.Settings())
	}
	return part, block, err
}

// checkBlocks notes which blocks cannot be stored. One that is as it was stored
// may stay.
func (f *nodeForm) checkBlocks(ctx context.Context) {
	for _, field := range f.typ.Fields {
		if field.Type != config.FieldComponents || !f.values.Has("f."+field.Name) {
			continue
		}
		stored, _ := f.item.Fields[field.Name].([]any)
		for _, key := range f.keys(field.Name) {
			name := input(field.Name, key)
			if !isBlock(f.values.Get(name + ".kind")) {
				continue
			}
			part, _, err := f.readBlock(name)
			if err == nil || slices.ContainsFunc(stored, func(was any) bool { return reflect.DeepEqual(was, any(part)) }) {
				continue
			}
			f.bad[name] = i18n.T(ctx, "blocks.settings_refused")
			if _, ok := errors.AsType[*config.InvalidError](err); !ok {
				f.bad[name] = sentence(err.Error())
			}
		}
	}
}

// saidAtRows drops complaints about fields whose rows say the same.
func (f *nodeForm) saidAtRows() {
	for _, field := range f.typ.Fields {
		for _, key := range f.keys(field.Name) {
			if field.Type == config.FieldComponents && f.bad[input(field.Name, key)] != "" {
				delete(f.errors, field.Name)
			}
		}
	}
}

// isBlock reports whether a component is no text.
func isBlock(kind string) bool { return kind != "" && kind != "text" }

// fillBlocks adds the settings of the blocks among the parts of a page, and what
// can be added.
func (h *Handlers) fillBlocks(c echo.Context, f *nodeForm, field config.Field, w *components.Widget) error {
	ctx := c.Request().Context()
	for _, name := range config.BlockNames() {
		w.Blocks = append(w.Blocks, components.Option{Value: name, Label: blockLabel(ctx, name)})
	}
	var in blockInputs // read when the first block needs it
	for i := range w.Rows {
		r := &w.Rows[i]
		if !isBlock(r.Kind) {
			continue
		}
		name := input(field.Name, r.Key)
		part, block, refused := f.readBlock(name)
		if _, invalid := errors.AsType[*config.InvalidError](refused); refused != nil && !invalid {
			continue // nothing that this program has settings for: it is kept as it is
		}
		if in.languages == nil {
			targets, err := h.targetsFrom(ctx, f)
			if err != nil {
				return err
			}
			if in, err = h.blockInputs(ctx, targets); err != nil {
				return err
			}
		}
		in.name, in.id = name+settingsPrefix, "f-"+field.Name+"-"+r.Key+"-"
		whole, _ := json.Marshal(part) // plain data
		r.Value = string(whole)
		props := views.BlockSettingsProps{
			Mark: name + settingsInForm, DOMID: config.BlockDOMID(block.Name(), asText(part["uuid"])),
			Main: in.main(ctx, block), More: in.texts(ctx, block, f.lang),
		}
		if r.Error != "" {
			groups := []views.FormGroup{{Controls: props.Main}, {Controls: props.More}}
			refuseControls(groups, refusedFields(refused))
		}
		// What belongs to what is in sight; the rest is for the few who need it.
		props.More = append(slices.Clone(props.Main[1:]), props.More...)
		props.Main = props.Main[:1]
		r.Settings = views.BlockSettings(props)
	}
	return nil
}

// targetsFrom lists the Answer blocks that a block on the page of a form can belong
// to: those on the page as the form says, then all others.
func (h *Handlers) targetsFrom(ctx context.Context, f *nodeForm) ([]answerTarget, error) {
	own := f.answersInForm()
	var out []answerTarget
	for i, id := range own {
		t := answerTarget{id: id, label: i18n.T(ctx, "blocks.target_here")}
		if len(own) > 1 {
			t.label = i18n.T(ctx, "blocks.numbered", t.label, i+1)
		}
		out = append(out, t)
	}
	all, err := h.answerTargets(ctx, f.who)
	for _, t := range all {
		if !slices.Contains(own, t.id) {
			out = append(out, t)
		}
	}
	return out, err
}

// partsInWords writes texts and blocks as one text, for two versions side by side.
func (h *Handlers) partsInWords(ctx context.Context, f *nodeForm, value any) (string, error) {
	in := blockInputs{}
	var parts []string
	list, _ := value.([]any)
	for _, one := range list {
		m, _ := one.(map[string]any)
		if m["type"] != "block" {
			parts = append(parts, strings.TrimSpace(asText(m["value"])))
			continue
		}
		if in.languages == nil {
			targets, err := h.answerTargets(ctx, f.who)
			if err != nil {
				return "", err
			}
			if in, err = h.blockInputs(ctx, targets); err != nil {
				return "", err
			}
		}
		settings, _ := m["settings"].(map[string]any)
		block, err := config.ParseBlock(asText(m["block"]), settings)
		if err != nil {
			parts = append(parts, "["+asText(m["block"])+"]")
			continue
		}
		parts = append(parts, in.inWords(ctx, block))
	}
	return strings.Join(parts, "\n\n"), nil
}

// inWords writes a block with its settings.
func (in blockInputs) inWords(ctx context.Context, b config.Block) string {
	lines := []string{"[" + blockLabel(ctx, b.Name()) + "]"}
	add := func(controls []views.Control, note string) {
		for _, c := range controls {
			value := strings.ReplaceAll(c.Value, "\n", " / ")
			switch c.Kind {
			case views.ControlCheck:
				value = i18n.T(ctx, "widget.no")
				if len(c.Chosen) > 0 {
					value = i18n.T(ctx, "widget.yes")
				}
			case views.ControlSelect, views.ControlRadios:
				for _, o := range c.Options {
					if o.Value == value || slices.Contains(c.Chosen, o.Value) {
						value = o.Label
					}
				}
			}
			if value != "" {
				lines = append(lines, c.Label+note+": "+value)
			}
		}
	}
	add(in.main(ctx, b), "")
	for _, l := range in.languages {
		note := ""
		if len(in.languages) > 1 {
			note = " (" + l.Name + ")"
		}
		add(in.texts(ctx, b, l.Name), note)
	}
	return strings.Join(lines, "\n")
}
