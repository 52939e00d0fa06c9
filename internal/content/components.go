package content

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"docent/internal/config"
)

// components checks text with blocks among it.
func (v *values) components(f config.Field, value any) (any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("must be a list of texts and blocks")
	}
	if len(list) > componentsLimit {
		return nil, fmt.Errorf("holds %d parts at most, not %d", componentsLimit, len(list))
	}
	var out []any
	for i, part := range list {
		m, ok := part.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("must be a list of texts and blocks")
		}
		var x map[string]any
		var err error
		switch m["type"] {
		case "text":
			if empty(m) {
				continue
			}
			x, err = v.textPart(f, m)
		case "block":
			x, err = blockPart(m, v.before[f.Name])
		default:
			err = fmt.Errorf("is neither a text nor a block")
		}
		if err != nil {
			return nil, fmt.Errorf("%w (part %d)", err, i+1)
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

func (v *values) textPart(f config.Field, m map[string]any) (map[string]any, error) {
	if err := onlyKeys(m, "type", "value", "format"); err != nil {
		return nil, err
	}
	s, format := longText(m)
	if format == "" {
		format = formatNames(f)[0]
	}
	s, err := v.formatted(f, s, format, v.before[f.Name])
	return map[string]any{"type": "text", "value": s, "format": format}, err
}

// blockPart checks a block among the components of a field. One that stood there
// before may stay as it is, whatever this program thinks of it by now.
func blockPart(m map[string]any, before any) (map[string]any, error) {
	if err := onlyKeys(m, "type", "block", "uuid", "settings"); err != nil {
		return nil, err
	}
	name, _ := m["block"].(string)
	if !machineName.MatchString(name) {
		return nil, fmt.Errorf("does not name a block")
	}
	id, _ := m["uuid"].(string)
	if id == "" {
		id = newID()
	}
	u, err := uuid.Parse(id)
	if err != nil {
		return nil, fmt.Errorf("has a block whose id is no UUID")
	}
	x := map[string]any{"type": "block", "block": name, "uuid": u.String()}
	settings, ok := m["settings"].(map[string]any)
	if !ok && m["settings"] != nil {
		return nil, fmt.Errorf("has a block with settings that are none")
	}
	if b, err := json.Marshal(settings); err != nil || len(b) > settingsLimit {
		return nil, fmt.Errorf("has a block with settings that are too large")
	}
	if settings != nil {
		x["settings"] = settings
	}
	if was, _ := before.([]any); slices.ContainsFunc(was, func(part any) bool { return reflect.DeepEqual(part, any(x)) }) {
		return x, nil
	}
	block, err := config.ParseBlock(name, settings)
	if err != nil {
		return nil, fmt.Errorf("has a block that cannot be: %s", blockRefusal(err))
	}
	x["settings"] = block.Settings()
	return x, nil
}

// blockRefusal says what is wrong with a block's settings.
func blockRefusal(err error) string {
	invalid, ok := errors.AsType[*config.InvalidError](err)
	if !ok {
		return err.Error()
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(invalid.Fields)) {
		all = append(all, name+" "+invalid.Fields[name])
	}
	return strings.Join(all, ", ")
}
