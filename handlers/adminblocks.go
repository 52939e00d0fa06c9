package handlers

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

const blocksURL = "/admin/structure/blocks"

func blockURL(name string) string { return blocksURL + "/" + url.PathEscape(name) }

// A blockSlot is a place that blocks are ordered in: a region, or in the region
// among the fields what stands below one of them.
type blockSlot struct {
	region config.Region
	after  string
	blocks []config.Named[config.Placement]
}

// id is how moves name the slot. Names of placed blocks never begin like it.
func (s blockSlot) id() string {
	if s.after != "" {
		return "@" + string(s.region) + "." + s.after
	}
	return "@" + string(s.region)
}

// blockSlots sorts placed blocks, which come in their order, into the slots of a
// page. Among the fields there is a slot below each that has blocks, and below the
// main text always.
func blockSlots(placed []config.Named[config.Placement], fields []pageField) []blockSlot {
	var slots []blockSlot
	for _, region := range config.Regions() {
		slots = append(slots, blockSlot{region: region})
		if region != config.RegionContent {
			continue
		}
		var below []string
		for _, f := range fields {
			below = append(below, f.name)
		}
		for _, p := range placed {
			if !slices.Contains(below, p.Value.After) {
				below = append(below, p.Value.After) // a field that no type has any longer
			}
		}
		for _, name := range below {
			used := slices.ContainsFunc(placed, func(p config.Named[config.Placement]) bool { return p.Value.After == name })
			if name != "" && (used || name == content.FieldBody) {
				slots = append(slots, blockSlot{region: region, after: name})
			}
		}
	}
	for _, p := range placed {
		i := slices.IndexFunc(slots, func(s blockSlot) bool { return s.region == p.Value.Region && s.after == p.Value.After })
		if i >= 0 {
			slots[i].blocks = append(slots[i].blocks, p)
		}
	}
	return slots
}

// A pageField is a field that pages show, by which blocks can be placed.
type pageField struct{ name, label string }

// pageFields lists the fields of all types of pages, in the order in which pages
// show them. Fields of several types that share a name are one.
func (h *Handlers) pageFields(ctx context.Context) ([]pageField, error) {
	types, err := h.Content.Types(ctx)
	if err != nil {
		return nil, err
	}
	lang := i18n.Language(ctx)
	var out []pageField
	for _, t := range types.Bundles(config.EntityNode) {
		at := 0 // where the next field goes that no type before had
		for _, item := range t.Value.ViewItems(config.ViewFull) {
			f, _ := t.Value.Field(item.Field)
			if i := slices.IndexFunc(out, func(p pageField) bool { return p.name == f.Name }); i >= 0 {
				at = max(at, i+1)
				continue
			}
			out = slices.Insert(out, at, pageField{f.Name, f.LabelIn(lang)})
			at++
		}
	}
	return out, nil
}

func fieldLabel(fields []pageField, name string) string {
	for _, f := range fields {
		if f.name == name {
			return f.label
		}
	}
	return name
}

// placeBlocks returns the slots after a move. Steps lead on from one slot to the
// next.
func (m move) placeBlocks(slots []blockSlot) ([]blockSlot, error) {
	byName := map[string]config.Named[config.Placement]{}
	tree := make([]*branch, len(slots))
	for i, s := range slots {
		tree[i] = &branch{id: s.id()}
		for _, p := range s.blocks {
			byName[p.Name] = p
			tree[i].children = append(tree[i].children, &branch{id: p.Name})
		}
	}
	if m.how == "in" || m.how == "out" || strings.HasPrefix(m.id, "@") {
		return nil, refuse(http.StatusBadRequest, "")
	}
	if slot, i := (&branch{children: tree}).find(m.id); slot != nil {
		at := slices.Index(tree, slot)
		switch {
		case m.how == "up" && i == 0 && at > 0:
			m.how, m.target = "inside", tree[at-1].id
		case m.how == "down" && i == len(slot.children)-1 && at < len(tree)-1:
			m.how, m.target = "inside", tree[at+1].id
			if next := tree[at+1].children; len(next) > 0 {
				m.how, m.target = "before", next[0].id
			}
		}
	}
	tree, err := m.apply(tree)
	if err != nil {
		return nil, err
	}
	if len(tree) != len(slots) { // beside the slots, where nothing can be
		return nil, refuse(http.StatusBadRequest, "")
	}
	out := slices.Clone(slots)
	for i, b := range tree {
		out[i].blocks = nil
		for weight, child := range b.children {
			if len(child.children) > 0 {
				return nil, refuse(http.StatusBadRequest, "")
			}
			p := byName[child.id]
			p.Value.Region, p.Value.After, p.Value.Weight = out[i].region, out[i].after, weight
			out[i].blocks = append(out[i].blocks, p)
		}
	}
	return out, nil
}

// moveBlock handles POST /admin/structure/blocks/move. The order is changed as it
// is at that moment: of two who move at once, the second goes on from the first.
func (h *Handlers) moveBlock(c echo.Context) error {
	ctx := c.Request().Context()
	m, err := postedMove(c)
	if err != nil {
		return err
	}
	fields, err := h.pageFields(ctx)
	if err != nil {
		return err
	}
	err = config.UpdateAll(ctx, h.Config, h.account(c).ID, func(all []config.Named[config.Placement]) ([]config.Named[config.Placement], error) {
		slots, err := m.placeBlocks(blockSlots(inPageOrder(all), fields))
		var changed []config.Named[config.Placement]
		for _, s := range slots {
			changed = append(changed, s.blocks...)
		}
		return changed, err
	})
	if err != nil {
		return err
	}
	return m.done(c, blocksURL)
}

// blockLayout handles GET /admin/structure/blocks.
func (h *Handlers) blockLayout(c echo.Context) error {
	ctx := c.Request().Context()
	page := views.BlockLayoutPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "blocks.title"), Intro: i18n.T(ctx, "blocks.intro"), MoveAction: blocksURL + "/move",
		New: components.Link{Label: i18n.T(ctx, "blocks.new"), URL: blocksURL + "/add"},
	}
	placed, err := h.placements(ctx)
	if err != nil {
		return err
	}
	fields, err := h.pageFields(ctx)
	if err != nil {
		return err
	}
	words, err := h.blockWords(c)
	if err != nil {
		return err
	}
	slots := blockSlots(placed, fields)
	for at, s := range slots {
		if s.after == "" {
			page.Regions = append(page.Regions, views.LayoutRegion{
				Name: string(s.region), Label: regionLabel(ctx, s.region), Help: i18n.T(ctx, "blocks.about."+string(s.region)),
				AddURL: blocksURL + "/add?" + url.Values{"region": {string(s.region)}}.Encode(),
			})
		}
		slot := views.LayoutSlot{ID: s.id()}
		if s.after != "" {
			slot.Field = fieldLabel(fields, s.after)
		}
		for i, p := range s.blocks {
			b := words.block(p)
			b.Up, b.Down = i > 0 || at > 0, i < len(s.blocks)-1 || at < len(slots)-1
			slot.Blocks = append(slot.Blocks, b)
		}
		region := &page.Regions[len(page.Regions)-1]
		region.Slots = append(region.Slots, slot)
	}
	return h.render(c, http.StatusOK, views.BlockLayout(page))
}

func regionLabel(ctx context.Context, r config.Region) string {
	return i18n.T(ctx, "blocks.region."+string(r))
}

func blockLabel(ctx context.Context, name string) string { return i18n.T(ctx, "blocks.kind."+name) }

// blockWords tells about placed blocks in words: where they are shown, and what
// they belong to.
type blockWords struct {
	ctx     context.Context
	types   []components.Option
	langs   []components.Option
	roles   []components.Option
	agents  []config.Named[config.Agent]
	targets []answerTarget
}

func (h *Handlers) blockWords(c echo.Context) (blockWords, error) {
	ctx := c.Request().Context()
	w := blockWords{ctx: ctx}
	types, err := h.Content.Types(ctx)
	if err != nil {
		return w, err
	}
	for _, t := range types.Bundles(config.EntityNode) {
		w.types = append(w.types, components.Option{Value: t.Name, Label: t.Value.LabelIn(i18n.Language(ctx))})
	}
	languages, err := config.Languages(ctx, h.Config)
	if err != nil {
		return w, err
	}
	for _, l := range languages {
		w.langs = append(w.langs, components.Option{Value: l.Name, Label: l.Value.Label})
	}
	roles, err := config.All[config.Role](ctx, h.Config)
	if err != nil {
		return w, err
	}
	for _, r := range roles {
		w.roles = append(w.roles, components.Option{Value: r.Name, Label: r.Value.Label})
	}
	if w.agents, err = config.All[config.Agent](ctx, h.Config); err != nil {
		return w, err
	}
	w.targets, err = h.answerTargets(ctx, h.account(c))
	return w, err
}

func (w blockWords) block(p config.Named[config.Placement]) views.LayoutBlock {
	b := views.LayoutBlock{
		ID: p.Name, Title: p.Value.Label, URL: blockURL(p.Name), Kind: blockLabel(w.ctx, p.Value.Name()), Where: w.visibility(p.Value.Visibility),
		Actions: []views.RowAction{
			{Label: i18n.T(w.ctx, "action.edit"), URL: blockURL(p.Name)},
			{Label: i18n.T(w.ctx, "action.delete"), URL: blockURL(p.Name) + "/delete", Danger: true},
		},
	}
	switch {
	case p.Value.Question != nil:
		b.Target, b.Wrong = w.target(p.Value.Question.Target)
	case p.Value.Sources != nil:
		b.Target, b.Wrong = w.target(p.Value.Sources.Target)
	case p.Value.Answer != nil:
		b.Target, b.Wrong = w.agent(p.Value.Answer.Agent)
	}
	return b
}

// target names the Answer block that another aims at; wrong when there is none.
func (w blockWords) target(id string) (text string, wrong bool) {
	for _, t := range w.targets {
		if t.id == id {
			return i18n.T(w.ctx, "blocks.aims_at", t.label), false
		}
	}
	return i18n.T(w.ctx, "blocks.aims_at_nothing"), true
}

func (w blockWords) agent(name string) (text string, wrong bool) {
	for _, a := range w.agents {
		switch {
		case a.Name != name:
		case a.Value.Enabled:
			return i18n.T(w.ctx, "blocks.answers_by", a.Value.Label), false
		default:
			return i18n.T(w.ctx, "blocks.agent_closed", a.Value.Label), true
		}
	}
	return i18n.T(w.ctx, "blocks.agent_gone", name), true
}

// pathsInWords lists paths as part of a sentence. Where text runs from right to left
// each keeps its own direction, else its slashes go astray.
func pathsInWords(ctx context.Context, paths ...string) string {
	if i18n.Direction(i18n.Language(ctx)) == "rtl" {
		const isolate, end = "\u2066", "\u2069"
		paths = slices.Clone(paths)
		for i, p := range paths {
			paths[i] = isolate + p + end
		}
	}
	return strings.Join(paths, i18n.T(ctx, "blocks.comma"))
}

// visibility says on which pages, and to whom, a block is shown.
func (w blockWords) visibility(v config.Visibility) string {
	comma := i18n.T(w.ctx, "blocks.comma")
	named := func(names []string, options []components.Option) string {
		var labels []string
		for _, name := range names {
			label := name
			for _, o := range options {
				if o.Value == name {
					label = o.Label
				}
			}
			labels = append(labels, label)
		}
		return strings.Join(labels, comma)
	}
	var parts []string
	if len(v.Paths) > 0 {
		parts = append(parts, i18n.T(w.ctx, "blocks.on_paths", pathsInWords(w.ctx, v.Paths...)))
	}
	if len(v.Except) > 0 {
		parts = append(parts, i18n.T(w.ctx, "blocks.not_on_paths", pathsInWords(w.ctx, v.Except...)))
	}
	if len(v.Types) > 0 {
		parts = append(parts, i18n.T(w.ctx, "blocks.on_types", named(v.Types, w.types)))
	}
	if len(v.Languages) > 0 {
		parts = append(parts, i18n.T(w.ctx, "blocks.in_languages", named(v.Languages, w.langs)))
	}
	if len(v.Roles) > 0 {
		parts = append(parts, i18n.T(w.ctx, "blocks.for_roles", named(v.Roles, w.roles)))
	}
	return cmp.Or(strings.Join(parts, " · "), i18n.T(w.ctx, "blocks.everywhere"))
}
