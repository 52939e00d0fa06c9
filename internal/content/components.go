package content

import (
	"encoding/json"
	"fmt"

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
			x, err = blockPart(m)
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

func blockPart(m map[string]any) (map[string]any, error) {
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
	switch settings := m["settings"].(type) {
	case nil:
	case map[string]any:
		if b, err := json.Marshal(settings); err != nil || len(b) > settingsLimit {
			return nil, fmt.Errorf("has a block with settings that are too large")
		}
		x["settings"] = settings
	default:
		return nil, fmt.Errorf("has a block with settings that are none")
	}
	return x, nil
}
