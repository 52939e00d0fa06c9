package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"docent/db/dbtest"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestImportIndexEval(t *testing.T) {
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			pairs := []string{"DOCENT_DATA", t.TempDir(), "DOCENT_DEMO", "off"}
			if database == "postgres" {
				pairs = append(pairs, "DATABASE_URL", dbtest.PostgresURL(t))
			}
			getenv := setting(pairs...)
			must := func(stdin string, args ...string) string {
				t.Helper()
				out, err := docent(t, stdin, getenv, args...)
				if err != nil {
					t.Fatalf("%v: %v", args, err)
				}
				return out
			}
			dir := t.TempDir()
			write(t, dir, "_index.md", "---\ntitle: Observatory\n---\nWelcome.")
			write(t, dir, "visit/tickets.md", "---\ntitle: Tickets\n---\nA ticket for the planetarium costs nine pounds.")
			write(t, dir, "visit/hours.md", "---\ntitle: Hours\n---\nThe dome opens at dusk.")
			write(t, dir, "bad.md", "---\ntitle: [\n---\nText.")

			out := must("", "import", dir)
			if !strings.Contains(out, "bad.md:") || !strings.Contains(out, "4 files in") || !strings.Contains(out, "1 are drafts") {
				t.Errorf("first import: %s", out)
			}
			if out = must("", "import", dir); !strings.Contains(out, "0 added, 0 changed, 4 unchanged") {
				t.Errorf("second import: %s", out)
			}
			if err := os.Remove(filepath.Join(dir, "visit/hours.md")); err != nil {
				t.Fatal(err)
			}
			if out = must("n\n", "import", dir, "-prune"); !strings.Contains(out, "Remove these 1 pages?") || !strings.Contains(out, "are kept") {
				t.Errorf("prune refused: %s", out)
			}
			if out = must("y\n", "import", "-prune", dir); !strings.Contains(out, "1 pages whose file is gone were removed") {
				t.Errorf("prune: %s", out)
			}
			if out = must("", "index"); !strings.Contains(out, "Indexed 2 pages") {
				t.Errorf("index: %s", out)
			}

			questions := filepath.Join(t.TempDir(), "q.jsonl")
			write(t, filepath.Dir(questions), "q.jsonl",
				`{"id":"a","question":"How much is a planetarium ticket?","gold":["visit/tickets.md"],"answer_facts":["nine"],"kind":"factoid","answerable":true,"lang":"en"}`+"\n"+
					`{"id":"b","question":"Who painted the Mona Lisa?","gold":[],"answer_facts":[],"kind":"factoid","answerable":false,"lang":"en"}`+"\n")
			var report map[string]any
			if err := json.Unmarshal([]byte(must("", "eval", "--questions", questions, "--json")), &report); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"recall_at_1", "recall_at_5", "recall_at_10", "mrr", "gold_cited", "facts", "refused_right"} {
				if report[name] != 1.0 {
					t.Errorf("%s is %v, want 1", name, report[name])
				}
			}
			if report["refused_wrong"] != 0.0 {
				t.Errorf("refused_wrong is %v", report["refused_wrong"])
			}
			if out = must("", "eval", "-questions", questions); !strings.Contains(out, "recall@5") {
				t.Errorf("eval: %s", out)
			}
		})
	}
}

func TestUserCommand(t *testing.T) {
	getenv := setting("DOCENT_DATA", t.TempDir(), "DOCENT_BASE_URL", "https://garden.example")
	out, err := docent(t, "", getenv, "user", "add", "ada", "-roles", "editor")
	if err != nil || !regexp.MustCompile(`https://garden\.example/user/signin/[0-9a-f]{64}`).MatchString(out) {
		t.Fatalf("add: %v %s", err, out)
	}
	if _, err = docent(t, "", getenv, "user", "add", "Ada"); err == nil {
		t.Error("a second Ada was added")
	}
	if _, err = docent(t, "short\n", getenv, "user", "password", "ada"); err == nil {
		t.Error("a short password was taken")
	}
	if out, err = docent(t, "a long enough password\n", getenv, "user", "password", "ada"); err != nil || !strings.Contains(out, "is changed") {
		t.Errorf("password: %v %s", err, out)
	}
	if _, err = docent(t, "", getenv, "user", "link", "nobody"); err == nil || !strings.Contains(err.Error(), "no account") {
		t.Errorf("unknown account: %v", err)
	}
}

func TestUsage(t *testing.T) {
	out, err := docent(t, "", setting())
	if err != nil || !strings.Contains(out, "serve") || !strings.Contains(out, "eval") {
		t.Errorf("no command: %v %s", err, out)
	}
	if _, err = docent(t, "", setting(), "fly"); err == nil {
		t.Error("an unknown command was run")
	}
	if _, err = docent(t, "", setting("DOCENT_DATA", t.TempDir()), "import"); err == nil {
		t.Error("import without a folder was run")
	}
	if _, err = docent(t, "", setting("DOCENT_DATA", t.TempDir()), "import", "/does/not/exist"); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("missing folder: %v", err)
	}
	if _, err = docent(t, "", setting("DOCENT_LISTEN", "x"), "migrate"); err == nil {
		t.Error("bad settings were taken")
	}
	if out, err = docent(t, "", setting("DOCENT_DATA", t.TempDir()), "migrate"); err != nil || !strings.Contains(out, "up to date") {
		t.Errorf("migrate: %v %s", err, out)
	}
}

// What is imported beside the demo site does not take the demo's pages for gone.
func TestImportBesideTheDemo(t *testing.T) {
	data := t.TempDir()
	serveSite(t, map[string]string{"DOCENT_DATA": data}).stop()
	dir := t.TempDir()
	write(t, dir, "planetarium.md", "---\ntitle: Planetarium\n---\nStars.")
	out, err := docent(t, "y\n", setting("DOCENT_DATA", data), "import", "-prune", dir)
	if err != nil || strings.Contains(out, "gone") || strings.Contains(out, "Remove") || !strings.Contains(out, "1 added") {
		t.Errorf("%v: %s", err, out)
	}
}
