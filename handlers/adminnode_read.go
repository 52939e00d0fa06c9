package handlers

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/internal/config"
	"docent/internal/content"
)

// read makes an input of what the form says and notes what is wrong with it.
func (f *nodeForm) read() content.Input {
	v := f.values
	in := content.InputOf(f.item)
	in.Lang, in.Bundle = f.lang, f.item.Bundle
	in.Title = v.Get(input("title", "0"))
	in.BasedOn, in.Message = v.Get("based_on"), v.Get("message")
	in.Access = f.readAccess()
	if f.item.Type == content.TypeNode {
		in.Path = strings.TrimSpace(v.Get("path"))
		in.Menu, in.MenuTitle, in.MenuParent = v.Get("menu"), strings.TrimSpace(v.Get("menu_title")), v.Get("menu_parent")
		if in.Menu == "" {
			in.MenuParent = ""
		}
		in.SectionIndex = v.Get("section_index") != ""
		in.Weight = 0
		if sent := strings.TrimSpace(v.Get("weight")); sent != "" {
			n, err := strconv.Atoi(sent)
			if err != nil {
				f.errors["weight"] = "must be a whole number"
			}
			in.Weight = n
		}
		in.Date = time.Time{}
		if sent := v.Get("date"); sent != "" {
			t, err := f.parseMoment(sent)
			if err != nil {
				f.errors["date"] = "must be a date and a time"
			}
			in.Date = t
			if sent == f.moment(f.item.Date) { // browsers know no fractions of seconds
				in.Date = f.item.Date
			}
		}
	}
	in.Fields = content.Fields{}
	for _, item := range f.typ.FormItems() {
		field, _ := f.typ.Field(item.Field)
		if !f.values.Has("f." + field.Name) { // hidden, or not in the form that was sent
			if value, ok := f.item.Fields[field.Name]; ok {
				in.Fields[field.Name] = value
			}
			continue
		}
		value := f.readField(field)
		if value != nil {
			in.Fields[field.Name] = value
		} else if field.Required {
			f.errors[field.Name] = "is missing"
		}
	}
	if strings.TrimSpace(in.Title) == "" {
		f.errors["title"] = "is missing"
	}
	return in
}

func (f *nodeForm) readAccess() *content.Access {
	a := &content.Access{OutOfAnswers: f.values.Get("out_of_answers") != ""}
	if f.values.Get("view") == "roles" {
		if a.ViewRoles = slices.Clone(f.values["roles"]); len(a.ViewRoles) == 0 {
			f.errors["view_roles"] = "must name a role, or let everyone see it"
		}
	}
	return a
}

// readField returns the values of a field as content keeps them, nil for none.
func (f *nodeForm) readField(field config.Field) any {
	var list []any
	if f.manyInOne(field) {
		for _, value := range f.values[input(field.Name, "0")] {
			list = append(list, value)
		}
	} else {
		for _, key := range f.keys(field.Name) {
			if value := f.readValue(field, key); value != nil {
				list = append(list, value)
			}
		}
	}
	switch {
	case len(list) == 0:
		return nil
	case field.Multiple() || field.Type == config.FieldComponents || len(list) > 1:
		return list
	default:
		return list[0]
	}
}

func (f *nodeForm) readValue(field config.Field, key string) any {
	name := input(field.Name, key)
	v := f.values
	sent := strings.ReplaceAll(v.Get(name), "\r\n", "\n")
	line := strings.TrimSpace(sent)
	switch field.Type {
	case config.FieldBoolean:
		return line == "1" || line == "true"
	case config.FieldLongText:
		if line == "" {
			return nil
		}
		return map[string]any{"value": sent, "format": v.Get(name + ".format")}
	case config.FieldDate:
		return orNil(f.storedDate(field, line))
	case config.FieldDateRange:
		from, to := f.storedDate(field, line), f.storedDate(field, v.Get(name+".end"))
		if from == "" && to == "" {
			return nil
		}
		return compact(map[string]any{"from": from, "to": to})
	case config.FieldLink:
		title := strings.TrimSpace(v.Get(name + ".end"))
		if title == "" {
			return orNil(line)
		}
		return compact(map[string]any{"url": line, "title": title})
	case config.FieldImage, config.FieldFile:
		if line == "" {
			return nil
		}
		return compact(map[string]any{"file": line, beside(field): strings.TrimSpace(v.Get(name + ".alt"))})
	case config.FieldReference:
		return orNil(f.readReference(field, name, line))
	case config.FieldComponents:
		if isBlock(v.Get(name + ".kind")) {
			part, _, _ := f.readBlock(name) // what it cannot be is refused when it is stored
			return part
		}
		if line == "" {
			return nil
		}
		return compact(map[string]any{"type": "text", "value": sent, "format": v.Get(name + ".format")})
	default:
		return orNil(line)
	}
}

// readReference is the id that a reference's row stands for: a line keeps it
// beside the title, other widgets send nothing else.
func (f *nodeForm) readReference(field config.Field, name, line string) string {
	if f.widget(field) != "autocomplete" {
		return line
	}
	if line == "" {
		return ""
	}
	return f.values.Get(name + ".id")
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// compact drops empty parts.
func compact(m map[string]any) map[string]any {
	for key, value := range m {
		if value == "" {
			delete(m, key)
		}
	}
	return m
}
