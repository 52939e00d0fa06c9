package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func setting(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestSettings(t *testing.T) {
	s, err := settingsFrom(setting())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	if s.listen != "127.0.0.1:8080" || s.base.String() != "http://127.0.0.1:8080" || s.data != "var" || !s.demo || s.configWritable || len(s.proxies) != 0 {
		t.Errorf("defaults: %+v", s)
	}
	for name, tt := range map[string]struct {
		env  []string
		want string // in the error
	}{
		"listen":        {[]string{"DOCENT_LISTEN", "8080"}, "DOCENT_LISTEN"},
		"port":          {[]string{"DOCENT_LISTEN", "localhost:http8"}, "port"},
		"base":          {[]string{"DOCENT_BASE_URL", "example.org"}, "DOCENT_BASE_URL"},
		"base path":     {[]string{"DOCENT_BASE_URL", "https://example.org/site"}, "without a path"},
		"database":      {[]string{"DATABASE_URL", "mysql://x"}, "postgres://"},
		"database text": {[]string{"DATABASE_URL", "postgres://u:sec%ret@h/d"}, "valid postgres://"},
		"demo":          {[]string{"DOCENT_DEMO", "perhaps"}, "on or off"},
		"model alone":   {[]string{"DOCENT_MODEL", "m"}, "DOCENT_MODEL_URL"},
		"url alone":     {[]string{"DOCENT_MODEL_URL", "http://localhost:1"}, "DOCENT_MODEL must"},
		"model address": {[]string{"DOCENT_MODEL_URL", "localhost", "DOCENT_MODEL", "m"}, "http://"},
		"development":   {[]string{"DOCENT_DEV", "perhaps"}, "DOCENT_DEV"},
		"theme":         {[]string{"DOCENT_THEME", "/does/not/exist"}, "not a folder"},
		"proxies":       {[]string{"DOCENT_TRUSTED_PROXIES", "10.0.0.0/8, everyone"}, "everyone"},
	} {
		s, err := settingsFrom(setting(tt.env...))
		if err == nil {
			err = s.check()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want something about %q", name, err, tt.want)
		}
	}
	s, err = settingsFrom(setting("DOCENT_LISTEN", ":80", "DOCENT_TRUSTED_PROXIES", "10.0.0.0/8 ::1"))
	if err != nil || s.check() != nil || len(s.proxies) != 2 || s.base.Host != "localhost:80" {
		t.Errorf("%v %+v", err, s)
	}
}

func TestSettingsAreLoggedWithoutSecrets(t *testing.T) {
	s, err := settingsFrom(setting("DOCENT_ADMIN_PASSWORD", "SECRET1", "DOCENT_MODEL_KEY", "SECRET2", "DATABASE_URL", "postgres://u:SECRET3@h/d?password=SECRET4",
		"DOCENT_MODEL_URL", "https://k:SECRET5@model.example/v1?key=SECRET6"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "settings", s)
	if strings.Contains(b.String(), "SECRET") || !strings.Contains(b.String(), "postgres://h/d") || !strings.Contains(b.String(), "https://model.example/v1") {
		t.Errorf("logged: %s", &b)
	}
}

// docent runs the program and returns what it printed.
func docent(t *testing.T, stdin string, getenv func(string) string, args ...string) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	err := run(t.Context(), args, getenv, strings.NewReader(stdin), &out, &errs)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, &errs)
	}
	return out.String(), err
}
