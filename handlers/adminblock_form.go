package handlers

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// blockFormID is the id of the form of a placed block.
const blockFormID = "block-form"

// blockTitleLimit is how long the label of a placed block may be, in characters.
const blockTitleLimit = 120

// addBlock handles GET /admin/structure/blocks/add: first which block it is.
func (h *Handlers) addBlock(c echo.Context) error {
	ctx := c.Request().Context()
	page := views.BlockKindsPage{Admin: h.admin(c), Title: i18n.T(ctx, "blocks.new"), Crumbs: blockCrumbs(ctx)}
	region := ""
	if r := c.QueryParam("region"); slices.Contains(config.Regions(), config.Region(r)) {
		region = "?" + url.Values{"region": {r}}.Encode()
	}
	for _, name := range config.BlockNames() {
		page.Kinds = append(page.Kinds, components.Link{
			Label: blockLabel(ctx, name), Summary: i18n.T(ctx, "blocks.kind_help."+name), URL: blocksURL + "/add/" + name + region})
	}
	return h.render(c, http.StatusOK, views.BlockKinds(page))
}

func blockCrumbs(ctx context.Context) []components.Link {
	return []components.Link{{Label: i18n.T(ctx, "blocks.title"), URL: blocksURL}}
}

// A placementForm is the form of a placed block; without a name of a new one.
type placementForm struct {
	name    string
	p       config.Placement
	refused map[string]string
}

func (f placementForm) url() string {
	if f.name == "" {
		return blocksURL + "/add/" + f.p.Name()
	}
	return blockURL(f.name)
}

// newBlock handles GET /admin/structure/blocks/add/:block.
func (h *Handlers) newBlock(c echo.Context) error {
	f, err := h.newPlacement(c)
	if err != nil {
		return err
	}
	return h.renderPlacement(c, http.StatusOK, f)
}

// newPlacement is a block of the address's kind that is not placed yet. Its UUID
// goes with the form, so that a form sent twice makes one block.
func (h *Handlers) newPlacement(c echo.Context) (placementForm, error) {
	ctx := c.Request().Context()
	id, err := uuid.NewV7()
	if err != nil {
		return placementForm{}, err
	}
	p := config.Placement{UUID: id.String(), Region: config.RegionContent, Block: config.NewBlock(c.Param("block"))}
	if p.Name() == "" {
		return placementForm{}, db.ErrNotFound
	}
	if r := config.Region(c.QueryParam("region")); slices.Contains(config.Regions(), r) {
		p.Region = r
	}
	targets, err := h.answerTargets(ctx, h.account(c))
	if err != nil {
		return placementForm{}, err
	}
	if len(targets) > 0 {
		switch first := targets[0].id; {
		case p.Question != nil:
			p.Question.Target = first
		case p.Sources != nil:
			p.Sources.Target = first
		}
	}
	return placementForm{p: p}, nil
}

// editBlock handles GET /admin/structure/blocks/:name.
func (h *Handlers) editBlock(c echo.Context) error {
	p, err := config.Get[config.Placement](c.Request().Context(), h.Config, c.Param("name"))
	if err != nil {
		return err
	}
	return h.renderPlacement(c, http.StatusOK, placementForm{name: c.Param("name"), p: p})
}

// createBlock handles POST /admin/structure/blocks/add/:block.
func (h *Handlers) createBlock(c echo.Context) error {
	ctx := c.Request().Context()
	f, err := h.newPlacement(c)
	if err != nil {
		return err
	}
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	f.p.UUID = form.Get("uuid")
	placed, err := h.placements(ctx)
	if err != nil {
		return err
	}
	if again, ok := config.ByUUID(placed, f.p.UUID); ok && again.Value.Name() == f.p.Name() {
		return blockDone(c, again.Name, "added")
	}
	if f.p, f.refused, err = h.postedPlacement(c, f.p); err != nil {
		return err
	}
	name := freeBlockName(placed, f.p)
	if err := h.checkPlacement(ctx, name, f.p, f.refused); err != nil {
		return err
	}
	if len(f.refused) == 0 {
		err := config.Create(ctx, h.Config, name, f.p, h.account(c).ID)
		for errors.Is(err, config.ErrExists) { // somebody else chose the same name meanwhile
			if placed, err = h.placements(ctx); err != nil {
				return err
			}
			name = freeBlockName(placed, f.p)
			err = config.Create(ctx, h.Config, name, f.p, h.account(c).ID)
		}
		if f.refused = refusedFields(err); f.refused == nil && err != nil {
			return err
		}
	}
	if len(f.refused) > 0 {
		return h.renderPlacement(c, http.StatusUnprocessableEntity, f)
	}
	return blockDone(c, name, "added")
}

// blockDone leads back to the layout, to a block there.
func blockDone(c echo.Context, name, done string) error {
	return c.Redirect(http.StatusSeeOther, blocksURL+"?done="+done+"#row-"+url.PathEscape(name))
}

// freeBlockName makes a name of a new block's label that no other block has, and
// no page about blocks.
func freeBlockName(placed []config.Named[config.Placement], p config.Placement) string {
	base := nameFrom(p.Label)
	if base == "" {
		base = p.Name()
	}
	taken := func(name string) bool {
		return name == "add" || name == "move" || slices.ContainsFunc(placed, func(p config.Named[config.Placement]) bool { return p.Name == name })
	}
	name := base
	for n := 2; taken(name); n++ {
		name = base[:min(len(base), 55)] + "_" + strconv.Itoa(n)
	}
	return name
}

// saveBlock handles POST /admin/structure/blocks/:name. A block that somebody
// deleted meanwhile does not come back, and one that was moved stays there unless
// the form moves it.
func (h *Handlers) saveBlock(c echo.Context) error {
	ctx := c.Request().Context()
	f := placementForm{name: c.Param("name")}
	var err error
	if f.p, err = config.Get[config.Placement](ctx, h.Config, f.name); err != nil {
		return err
	}
	changed, refused, err := h.postedPlacement(c, f.p)
	if err != nil {
		return err
	}
	if err := h.checkPlacement(ctx, f.name, changed, refused); err != nil {
		return err
	}
	if len(refused) == 0 {
		err = config.Update(ctx, h.Config, f.name, h.account(c).ID, func(now config.Placement) (config.Placement, error) {
			changed, _, err := h.postedPlacement(c, now)
			return changed, err
		})
		if refused = refusedFields(err); refused == nil && err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		f.p, f.refused = changed, refused
		return h.renderPlacement(c, http.StatusUnprocessableEntity, f)
	}
	return blockDone(c, f.name, "saved")
}

// postedPlacement reads the form of a block over p, and says what cannot be read
// as meant.
func (h *Handlers) postedPlacement(c echo.Context, p config.Placement) (config.Placement, map[string]string, error) {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return p, nil, err
	}
	in, err := h.blockInputs(ctx, nil)
	if err != nil {
		return p, nil, err
	}
	refused := map[string]string{}
	p.Label = strings.TrimSpace(form.Get("title"))
	switch {
	case p.Label == "":
		refused["title"] = i18n.T(ctx, "blocks.title_missing")
	case utf8.RuneCountInString(p.Label) > blockTitleLimit:
		refused["title"] = i18n.T(ctx, "blocks.title_long", blockTitleLimit)
	}
	region, after := config.Region(form.Get("region")), form.Get("after")
	if region != config.RegionContent {
		after = ""
	}
	if form.Get("placed") != placedAt(region, after) { // it is to stand elsewhere: at the end there
		placed, err := h.placements(ctx)
		if err != nil {
			return p, nil, err
		}
		p.Region, p.After, p.Weight = region, after, 0
		for _, other := range placed {
			if other.Value.Region == region && other.Value.UUID != p.UUID {
				p.Weight = max(p.Weight, other.Value.Weight+1)
			}
		}
	}
	p.Visibility = config.Visibility{
		Paths: strings.Fields(form.Get("paths")), Except: strings.Fields(form.Get("except")),
		Types: form["types"], Languages: form["languages"], Roles: form["roles"],
	}
	p.Block = in.posted(form, p.Block)
	return p, refused, nil
}

// checkPlacement adds everything else that is wrong with a block that was read.
func (h *Handlers) checkPlacement(ctx context.Context, name string, p config.Placement, refused map[string]string) error {
	if refused["title"] != "" {
		p.Label = p.Name() // which is not wrong; its own texts may be
	}
	err := config.Check(ctx, h.Config, name, p)
	more := refusedFields(err)
	if more == nil {
		return err
	}
	maps.Copy(refused, more)
	return nil
}

// placedAt is where a form found a block.
func placedAt(region config.Region, after string) string { return string(region) + "|" + after }

// renderPlacement shows the form of a block beside the block itself.
func (h *Handlers) renderPlacement(c echo.Context, status int, f placementForm) error {
	ctx := c.Request().Context()
	page := views.BlockFormPage{
		Admin: h.admin(c), ID: blockFormID, Title: f.p.Label, Crumbs: blockCrumbs(ctx), Action: f.url(), PreviewURL: f.url() + "/preview", CancelURL: blocksURL,
		UUID: f.p.UUID, DOMID: f.p.DOMID(), Kind: blockLabel(ctx, f.p.Name()),
	}
	if f.name == "" {
		page.Title, page.Submit = i18n.T(ctx, "blocks.new_kind", page.Kind), i18n.T(ctx, "blocks.place")
		page.Placed = c.FormValue("placed") // a new block stands nowhere
	} else {
		stored, err := config.Get[config.Placement](ctx, h.Config, f.name)
		if err != nil {
			return err
		}
		page.Title, page.DeleteURL = stored.Label, f.url()+"/delete"
		page.Placed = placedAt(stored.Region, stored.After)
		page.Changes = history[config.Placement](h, c, f.name)
	}
	words, err := h.blockWords(c)
	if err != nil {
		return err
	}
	// A block does not aim at itself: an Answer block has no target.
	in, err := h.blockInputs(ctx, words.targets)
	if err != nil {
		return err
	}
	in.id = "block-"
	page.PathsID = "block-paths-known"
	in.paths = page.PathsID
	if page.Groups, err = h.placementGroups(ctx, in, words, f.p); err != nil {
		return err
	}
	page.Paths = targetPaths(words.targets)
	refuseControls(page.Groups, f.refused)
	if page.Preview, err = h.blockPreview(c, f.p, in.languages); err != nil {
		return err
	}
	return h.render(c, status, views.BlockForm(page))
}

// targetPaths are the pages on which Answer blocks stand.
func targetPaths(targets []answerTarget) []string {
	var paths []string
	for _, t := range targets {
		if t.path != "" && !slices.Contains(paths, t.path) {
			paths = append(paths, t.path)
		}
	}
	return paths
}

// placementGroups are the controls of a placed block.
func (h *Handlers) placementGroups(ctx context.Context, in blockInputs, words blockWords, p config.Placement) ([]views.FormGroup, error) {
	title := in.field("title", i18n.T(ctx, "blocks.name"), p.Label, i18n.T(ctx, "blocks.name_help"))
	title.Required, title.MaxLength = true, blockTitleLimit

	region := in.choice("region", i18n.T(ctx, "blocks.region"), string(p.Region), "", nil)
	for _, r := range config.Regions() {
		region.Options = append(region.Options, components.Option{Value: string(r), Label: regionLabel(ctx, r) + ": " + i18n.T(ctx, "blocks.about."+string(r))})
	}
	fields, err := h.pageFields(ctx)
	if err != nil {
		return nil, err
	}
	after := in.choice("after", i18n.T(ctx, "blocks.after"), p.After, i18n.T(ctx, "blocks.after_help"),
		[]components.Option{{Label: i18n.T(ctx, "blocks.above_fields")}})
	for _, f := range fields {
		after.Options = append(after.Options, components.Option{Value: f.name, Label: i18n.T(ctx, "blocks.below", f.label)})
	}
	if !slices.ContainsFunc(after.Options, func(o components.Option) bool { return o.Value == p.After }) {
		after.Options = append(after.Options, components.Option{Value: p.After, Label: i18n.T(ctx, "blocks.below_gone", p.After)})
	}

	v := p.Visibility
	paths := in.field("paths", i18n.T(ctx, "blocks.paths"), strings.Join(v.Paths, "\n"), i18n.T(ctx, "blocks.paths_help"))
	paths.Kind, paths.Rows, paths.Optional, paths.Placeholder = views.ControlArea, 3, true, "/visit/"
	except := in.field("except", i18n.T(ctx, "blocks.except"), strings.Join(v.Except, "\n"), "")
	except.Kind, except.Rows, except.Optional = views.ControlArea, 3, true
	shown := []views.Control{paths, except, in.boxes("types", i18n.T(ctx, "blocks.types"), i18n.T(ctx, "blocks.types_help"), v.Types, words.types)}
	if len(words.langs) > 1 || len(v.Languages) > 0 {
		shown = append(shown, in.boxes("languages", i18n.T(ctx, "blocks.languages"), "", v.Languages, words.langs))
	}
	shown = append(shown, in.boxes("roles", i18n.T(ctx, "blocks.roles"), i18n.T(ctx, "blocks.roles_help"), v.Roles, words.roles))

	groups := []views.FormGroup{
		{Title: i18n.T(ctx, "blocks.group_block"), Controls: append([]views.Control{title}, in.main(ctx, p.Block)...)},
		{Title: i18n.T(ctx, "blocks.group_place"), Controls: []views.Control{region, after}},
		{Title: i18n.T(ctx, "blocks.group_visibility"), Intro: i18n.T(ctx, "blocks.visibility_help"), Controls: shown},
	}
	for _, l := range in.languages {
		groups = append(groups, views.FormGroup{Title: l.Value.Label, Lang: l.Name, Controls: in.texts(ctx, p.Block, l.Name)})
	}
	return groups, nil
}

// boxes offers names to tick; those that are chosen and no longer offered stay.
func (in blockInputs) boxes(name, label, help string, chosen []string, options []components.Option) views.Control {
	c := in.field(name, label, "", help)
	c.Kind, c.Chosen, c.Options, c.Optional = views.ControlChecks, chosen, slices.Clone(options), true
	for _, value := range chosen {
		if !slices.ContainsFunc(c.Options, func(o components.Option) bool { return o.Value == value }) {
			c.Options = append(c.Options, components.Option{Value: value, Label: value})
		}
	}
	return c
}
