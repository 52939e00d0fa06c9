package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The examples of the README work as they are printed, against a site on another
// port.
func TestReadmeExamples(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl: the README's examples are not tried")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := bytes.Cut(readme, []byte("\n## Ask over HTTP\n"))
	if !ok {
		t.Fatal("the README has no section about asking over HTTP")
	}
	section, _, _ = bytes.Cut(section, []byte("\n## "))
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(section, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d examples, want 3: getting a token, JSON, events", len(blocks))
	}
	s := serveSite(t, nil)
	var script strings.Builder
	for _, b := range blocks {
		script.Write(bytes.ReplaceAll(b[1], []byte("http://localhost:8080"), []byte(s.url)))
		script.WriteString("\necho; echo =====\n")
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script.String())
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	parts := strings.Split(string(out), "=====\n")
	got := decode[struct {
		Answer struct {
			Text       string
			References []testReference
		}
		Status string
	}](t, parts[1])
	if got.Status != "done" || !strings.Contains(got.Answer.Text, "[1]") || len(got.Answer.References) == 0 {
		t.Errorf("JSON: %s", parts[1])
	}
	var names []string
	for _, e := range events(t, parts[2]) {
		names = append(names, e.name)
	}
	if len(names) < 3 || names[0] != "references" || names[len(names)-1] != "done" {
		t.Errorf("events: %v", names)
	}
}
