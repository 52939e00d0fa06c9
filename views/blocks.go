package views

import "docent/components"

// Blocks are the placed blocks of a page by region, each in order. Those among
// the fields of the page stand with its fields.
type Blocks struct {
	Top    []components.BlockProps // below the masthead
	Before []components.BlockProps
	Aside  []components.BlockProps
	After  []components.BlockProps
	Bottom []components.BlockProps // above the foot
}

// CanAsk reports whether the page has a place to ask in.
func (b Blocks) CanAsk() bool {
	for _, region := range [][]components.BlockProps{b.Top, b.Before, b.Aside, b.After, b.Bottom} {
		for _, block := range region {
			if block.Question != nil {
				return true
			}
		}
	}
	return false
}

// A textPart is either a run of fields that are read as one text, or a block that
// stands between such runs and keeps a style of its own.
type textPart struct {
	fields []components.ShownField
	block  *components.BlockProps
}

// textParts splits fields at the blocks among their values.
func textParts(fields []components.ShownField) []textPart {
	var parts []textPart
	add := func(f components.ShownField) {
		if n := len(parts); n > 0 && parts[n-1].block == nil {
			parts[n-1].fields = append(parts[n-1].fields, f)
			return
		}
		parts = append(parts, textPart{fields: []components.ShownField{f}})
	}
	for _, f := range fields {
		rest := f
		rest.Values = nil
		for _, v := range f.Values {
			if v.Block == nil {
				rest.Values = append(rest.Values, v)
				continue
			}
			if len(rest.Values) > 0 || rest.Above {
				add(rest)
				rest.Values, rest.Above = nil, false
			}
			parts = append(parts, textPart{block: v.Block})
		}
		if len(rest.Values) > 0 {
			add(rest)
		}
	}
	return parts
}
