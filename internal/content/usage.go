package content

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"docent/internal/account"
	"docent/internal/config"
)

// pathTarget starts the name of an address in the table of usages.
const pathTarget = "path:"

// A usage is something that a field refers to.
type usage struct{ field, target string }

// localLink finds the addresses of this site that a text links to or shows.
var localLink = regexp.MustCompile(`(?:\]\(\s*<?|\]:\s*<?|(?:href|src)\s*=\s*["']?)(/[^\s"'<>)]*)`)

// targets lists what fields refer to, each once. Fields of no known type are
// looked through for links.
func targets(ct config.ContentType, fields Fields) []usage {
	found := map[usage]bool{}
	for name, value := range fields {
		f, known := ct.Field(name)
		if !known {
			f.Type = config.FieldLongText
		}
		values, ok := value.([]any)
		if !ok {
			values = []any{value}
			if list := fields.Strings(name); list != nil {
				values = nil
				for _, s := range list {
					values = append(values, s)
				}
			}
		}
		for _, v := range values {
			for _, target := range targetsOf(f.Type, v) {
				found[usage{name, target}] = true
			}
		}
	}
	out := make([]usage, 0, len(found))
	for u := range found {
		out = append(out, u)
	}
	return out
}

func targetsOf(t config.FieldType, value any) []string {
	switch t {
	case config.FieldReference:
		if id, ok := value.(string); ok {
			return []string{id}
		}
	case config.FieldImage, config.FieldFile:
		if m, ok := value.(map[string]any); ok {
			if id, ok := m["file"].(string); ok {
				return []string{fileTarget(id)}
			}
		}
	case config.FieldLink:
		if address := (Fields{"": value}).Text(""); strings.HasPrefix(address, "/") {
			return pathTargets(address)
		}
	case config.FieldLongText, config.FieldComponents:
		if name, id := blockOf(value); name != "" {
			return []string{blockTarget(name, id)}
		}
		text, _ := longText(value)
		var out []string
		for _, m := range localLink.FindAllStringSubmatch(text, -1) {
			out = append(out, pathTargets(m[1])...)
		}
		return out
	}
	return nil
}

// pathTargets names an address of this site as the table of usages does.
func pathTargets(address string) []string {
	path := address
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	if p, ok := strings.CutPrefix(path, FilePrefix); ok {
		if id := uploadAt(p); id != "" {
			return []string{fileTarget(id)}
		}
		return []string{pathTarget + FilePrefix + p}
	}
	p, err := NormalizePath(path)
	if err != nil || strings.HasPrefix(path, "//") {
		return nil
	}
	if _, rest, ok := strings.Cut(p, mediaPrefix); ok && uuid.Validate(strings.TrimSuffix(rest, "/")) == nil {
		return []string{strings.TrimSuffix(rest, "/")}
	}
	return []string{pathTarget + p}
}

// uploadAt is the id of the upload that an address below [FilePrefix] shows, as it
// is or in another size; "" when it is that of another file.
func uploadAt(address string) string {
	parts := strings.Split(address, "/")
	switch {
	case len(parts) == 2 && uuid.Validate(parts[0]) == nil:
		return parts[0]
	case len(parts) == 4 && parts[0] == "styles" && uuid.Validate(parts[2]) == nil:
		return parts[2]
	}
	return ""
}

// Usage is what would notice if an entity were gone.
type Usage struct {
	Uses   []Use  // pages and other content that refer or link to it, that the account may see
	Hidden int    // how many more there are that it may not see
	Menu   []Item // menu entries: its own languages in menus, and those right below it
}

// A Use is a translation that refers to an entity by a field.
type Use struct {
	Item  Item
	Field string
	Label string // of the field
	Live  bool   // visitors see it; otherwise only a draft has it
}

// References tells what refers to an entity or links to one of its addresses:
// what to say before it is archived or deleted.
func (s *Store) References(ctx context.Context, who account.Account, ref Ref) (Usage, error) {
	own, err := s.allLatest(ctx, ref.ID)
	if err != nil {
		return Usage{}, err
	}
	wanted := map[string]bool{ref.ID: true}
	var out Usage
	for _, r := range own {
		it, err := s.item(r)
		if err != nil {
			return Usage{}, err
		}
		wanted[pathTarget+it.Path] = true
		if it.Type == TypeMedia { // who shows its file shows it
			for _, id := range it.Fields.FileIDs() {
				wanted[fileTarget(id)] = true
			}
		}
		if it.Menu != "" && CanView(who, it) {
			out.Menu = append(out.Menu, it)
		}
	}
	former, err := s.formerPaths(ctx, ref.ID)
	if err != nil {
		return Usage{}, err
	}
	for _, f := range former {
		wanted[pathTarget+s.PublicPath(f.Lang, f.Path)] = true
	}
	below, err := s.belowInMenus(ctx, ref.ID)
	if err != nil {
		return Usage{}, err
	}
	for _, it := range below {
		if CanView(who, it) {
			out.Menu = append(out.Menu, it)
		}
	}
	uses, err := s.uses(ctx, slices.Collect(maps.Keys(wanted)))
	if err != nil {
		return Usage{}, err
	}
	err = s.describeUses(ctx, who, ref, uses, &out)
	return out, err
}

// describeUses adds the content that uses something, as far as the account may see it.
func (s *Store) describeUses(ctx context.Context, who account.Account, ref Ref, uses []use, out *Usage) error {
	var ids []string
	for _, u := range uses {
		if u.ID != ref.ID && !slices.Contains(ids, u.ID) {
			ids = append(ids, u.ID)
		}
	}
	items, err := s.byEntities(ctx, ids)
	if err != nil {
		return err
	}
	types, err := s.Types(ctx)
	if err != nil {
		return err
	}
	byKey := make(map[string]Item, len(items))
	for _, it := range items {
		byKey[it.ID+it.Lang] = it
	}
	for _, u := range uses {
		it, ok := byKey[u.ID+u.Lang]
		switch {
		case !ok: // itself, or gone by now
		case !CanView(who, it) || !u.Live && s.May(who, config.OpViewUnpublished, it) != nil:
			out.Hidden++
		default:
			ct, _ := types.Type(it.Type, it.Bundle)
			f, _ := ct.Field(u.Field)
			out.Uses = append(out.Uses, Use{Item: it, Field: u.Field, Label: f.LabelIn(it.Lang), Live: u.Live})
		}
	}
	return nil
}
