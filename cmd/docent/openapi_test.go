package main

import (
	"fmt"
	"strings"
	"testing"

	"docent/internal/llm/llmtest"
)

// A schema checks JSON against a part of an OpenAPI description: as much of JSON
// Schema as that description uses.
type schema struct {
	t   *testing.T
	all map[string]any
}

func (s schema) check(where string, is map[string]any, v any) {
	s.t.Helper()
	if ref, ok := is["$ref"].(string); ok {
		is = s.all[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
	}
	if want, ok := is["const"]; ok && v != want {
		s.t.Errorf("%s is %v, not %v", where, v, want)
	}
	if enum, ok := is["enum"].([]any); ok {
		known := false
		for _, e := range enum {
			known = known || e == v
		}
		if !known {
			s.t.Errorf("%s is %v, not one of %v", where, v, enum)
		}
	}
	bad := func(ok bool) {
		if !ok {
			s.t.Errorf("%s is %T, not %v", where, v, is["type"])
		}
	}
	switch is["type"] {
	case "string":
		_, ok := v.(string)
		bad(ok)
	case "integer", "number":
		n, ok := v.(float64)
		bad(ok)
		if least, has := is["minimum"].(float64); has && n < least {
			s.t.Errorf("%s is %v, less than %v", where, n, least)
		}
	case "array":
		list, ok := v.([]any)
		bad(ok)
		for i, x := range list {
			s.check(fmt.Sprintf("%s[%d]", where, i), is["items"].(map[string]any), x)
		}
	case "object":
		object, ok := v.(map[string]any)
		bad(ok)
		properties, _ := is["properties"].(map[string]any)
		required, _ := is["required"].([]any)
		for _, name := range required {
			if _, has := object[name.(string)]; !has {
				s.t.Errorf("%s lacks %v", where, name)
			}
		}
		for name, x := range object {
			p, has := properties[name].(map[string]any)
			if !has {
				s.t.Errorf("%s has %q, which is not described", where, name)
				continue
			}
			s.check(where+"."+name, p, x)
		}
	}
}

// The description of the API says what the API does.
func TestOpenAPIDescribesTheResponses(t *testing.T) {
	model := llmtest.NewFakeOpenAI(llmtest.Stream("Ten [1] to four [2]."), llmtest.Stream("Again [1]."))
	defer model.Close()
	s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake", "DOCENT_ADMIN_PASSWORD": "correct horse battery"})
	c := client(t)
	token := s.token(c)
	res, body := s.get(c, "/ai-answers/openapi.json")
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	doc := decode[map[string]any](t, body)
	sch := schema{t, doc["components"].(map[string]any)["schemas"].(map[string]any)}
	named := func(name string) map[string]any { return map[string]any{"$ref": "#/components/schemas/" + name} }
	responses := func(path, method string) map[string]any {
		return doc["paths"].(map[string]any)[path].(map[string]any)[method].(map[string]any)["responses"].(map[string]any)
	}
	post := func(path, operation, data string, header ...string) (int, any) {
		t.Helper()
		res, body := s.do(c, "POST", path, data, append([]string{"Content-Type", asJSON, "X-CSRF-Token", token}, header...)...)
		described, ok := responses(operation, "post")[fmt.Sprint(res.StatusCode)].(map[string]any)
		if !ok {
			t.Errorf("%s answers %d, which is not described: %s", path, res.StatusCode, body)
			return res.StatusCode, nil
		}
		if body == "" {
			return res.StatusCode, nil
		}
		if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			return res.StatusCode, body
		}
		v := decode[any](t, body)
		content := described["content"].(map[string]any)["application/json"].(map[string]any)
		sch.check(path, content["schema"].(map[string]any), v)
		return res.StatusCode, v
	}
	_, v := post("/ai-answers/question", "/ai-answers/question", `{"agent":"site","question":"When is the garden open in winter?"}`)
	answer := v.(map[string]any)
	id, turn := answer["conversation_id"].(string), answer["turn_id"].(string)
	refs := answer["answer"].(map[string]any)["references"].([]any)
	if cites := refs[0].(map[string]any)["citations"].([]any); len(cites) != 1 || !strings.HasPrefix(cites[0].(map[string]any)["url"].(string), "/") {
		t.Errorf("citations %v", cites)
	}
	_, v = post("/ai-answers/question", "/ai-answers/question", `{"agent":"site","question":"And then?","conversation_id":"`+id+`"}`, "Accept", "text/event-stream")
	seen := map[string]bool{}
	for _, e := range events(t, v.(string)) {
		name := map[string]string{"references": "ReferencesEvent", "token": "TokenEvent", "done": "DoneEvent", "error": "Error"}[e.name]
		sch.check(e.name, named(name), decode[any](t, e.data))
		seen[e.name] = true
	}
	if !seen["references"] || !seen["token"] || !seen["done"] {
		t.Errorf("events %v", seen)
	}
	_, body = s.get(c, "/ai-answers/conversations/"+id, "Accept", asJSON)
	sch.check("conversation", named("Conversation"), decode[any](t, body))
	for _, tt := range []struct {
		path, operation, body string
		status                int
	}{
		{"/ai-answers/question", "", `{"agent":"site","question":" "}`, 400},
		{"/ai-answers/question", "", `{"agent":"site","question":"x","conversation_id":"nope"}`, 404},
		{"/ai-answers/feedback", "", `{"conversation_id":"` + id + `","turn":1,"rating":"up"}`, 200},
		{"/ai-answers/feedback", "", `{"conversation_id":"` + id + `","turn":1,"rating":-1,"reasons":["wrong"],"comment":"no"}`, 200},
		{"/ai-answers/feedback", "", `{"conversation_id":"` + id + `","turn":1,"rating":"super"}`, 400},
		{"/ai-answers/feedback", "", `{"conversation_id":"` + id + `","turn":0,"rating":"up"}`, 400},
		{"/ai-answers/feedback", "", `{"turn":1,"rating":"up"}`, 400},
		{"/ai-answers/feedback", "", `{"conversation_id":"nope","turn":1,"rating":"up"}`, 404},
		{"/ai-answers/feedback", "", `{"conversation_id":"` + id + `","turn":1,"rating":"up","comment":"` + strings.Repeat("x", 1001) + `"}`, 400},
		{"/ai-answers/turns/" + turn + "/stop", "/ai-answers/turns/{id}/stop", `{}`, 204},
		{"/ai-answers/turns/" + turn + "/share", "/ai-answers/turns/{id}/share", `{}`, 200},
		{"/ai-answers/turns/0123/share", "/ai-answers/turns/{id}/share", `{}`, 404},
		{"/ai-answers/turns/" + turn + "/unshare", "/ai-answers/turns/{id}/unshare", `{}`, 204},
		{"/ai-answers/turns/" + turn + "/unshare", "/ai-answers/turns/{id}/unshare", `{}`, 204},
		{"/ai-answers/conversations/" + id + "/delete", "/ai-answers/conversations/{id}/delete", `{}`, 204},
		{"/ai-answers/conversations/" + id + "/delete", "/ai-answers/conversations/{id}/delete", `{}`, 404},
	} {
		if tt.operation == "" {
			tt.operation = tt.path
		}
		if status, v := post(tt.path, tt.operation, tt.body); status != tt.status {
			t.Errorf("%s %s: %d %v, want %d", tt.path, tt.body, status, v, tt.status)
		}
	}
	// Ids of records and traces are for those who may see them.
	if _, has := answer["log_id"]; has {
		t.Error("a visitor gets the id of the record")
	}
}
