package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// settings are the program's configuration: the environment's, with flags over
// it. Secrets have no flag, since other users of a machine can read those.
type settings struct {
	listen         string
	data           string
	baseURL        string
	databaseURL    string
	adminPassword  string
	demo           bool
	modelURL       string
	model          string
	modelKey       string
	theme          string
	configWritable bool
	trustedProxies string
	crawlPrivate   bool
	dev            bool
	rerankURL      string
	rerankModel    string
	rerankKey      string
	langfuseURL    string
	langfusePublic string
	langfuseSecret string
	getenv         func(string) string // for what other systems name themselves

	// What check makes of them.
	base    *url.URL
	proxies []netip.Prefix
}

func settingsFrom(getenv func(string) string) (*settings, error) {
	or := func(name, fallback string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return fallback
	}
	s := &settings{
		listen:         or("DOCENT_LISTEN", "127.0.0.1:8080"),
		data:           or("DOCENT_DATA", "var"),
		baseURL:        getenv("DOCENT_BASE_URL"),
		databaseURL:    getenv("DATABASE_URL"),
		adminPassword:  getenv("DOCENT_ADMIN_PASSWORD"),
		modelURL:       getenv("DOCENT_MODEL_URL"),
		model:          getenv("DOCENT_MODEL"),
		modelKey:       getenv("DOCENT_MODEL_KEY"),
		theme:          getenv("DOCENT_THEME"),
		trustedProxies: getenv("DOCENT_TRUSTED_PROXIES"),
		rerankURL:      getenv("DOCENT_RERANK_URL"),
		rerankModel:    getenv("DOCENT_RERANK_MODEL"),
		rerankKey:      getenv("DOCENT_RERANK_KEY"),
		langfuseURL:    or("LANGFUSE_HOST", getenv("LANGFUSE_BASE_URL")),
		langfusePublic: getenv("LANGFUSE_PUBLIC_KEY"),
		langfuseSecret: getenv("LANGFUSE_SECRET_KEY"),
		getenv:         getenv,
	}
	var err1, err2, err3, err4 error
	s.demo, err1 = onOff("DOCENT_DEMO", or("DOCENT_DEMO", "on"))
	s.configWritable, err2 = onOff("DOCENT_CONFIG_WRITABLE", or("DOCENT_CONFIG_WRITABLE", "off"))
	s.crawlPrivate, err3 = onOff("DOCENT_CRAWL_PRIVATE", or("DOCENT_CRAWL_PRIVATE", "off"))
	s.dev, err4 = onOff("DOCENT_DEV", or("DOCENT_DEV", "off"))
	return s, errors.Join(err1, err2, err3, err4)
}

func onOff(name, value string) (bool, error) {
	switch strings.ToLower(value) {
	case "on", "yes":
		return true, nil
	case "off", "no":
		return false, nil
	}
	if b, err := strconv.ParseBool(value); err == nil {
		return b, nil
	}
	return false, fmt.Errorf("%s is %q; it must be on or off", name, value)
}

func (s *settings) flags(f *flag.FlagSet) {
	f.StringVar(&s.listen, "listen", s.listen, "address and port to serve on (DOCENT_LISTEN)")
	f.StringVar(&s.data, "data", s.data, "folder for the database and files (DOCENT_DATA)")
	f.StringVar(&s.baseURL, "base-url", s.baseURL, "address visitors use, such as https://example.org (DOCENT_BASE_URL)")
	f.StringVar(&s.modelURL, "model-url", s.modelURL, "address of an OpenAI-compatible API (DOCENT_MODEL_URL)")
	f.StringVar(&s.model, "model", s.model, "name of the model there (DOCENT_MODEL)")
	f.StringVar(&s.theme, "theme", s.theme, "folder of a theme (DOCENT_THEME)")
	f.StringVar(&s.trustedProxies, "trusted-proxies", s.trustedProxies, "networks of proxies whose X-Forwarded-For counts, separated by commas (DOCENT_TRUSTED_PROXIES)")
	f.BoolFunc("demo", "fill an empty database with the demo site, on or off (DOCENT_DEMO)", func(v string) (err error) {
		s.demo, err = onOff("-demo", v)
		return err
	})
	f.BoolFunc("crawl-private", "read external sites on private networks too, on or off (DOCENT_CRAWL_PRIVATE)", func(v string) (err error) {
		s.crawlPrivate, err = onOff("-crawl-private", v)
		return err
	})
	f.BoolFunc("config-writable", "let administrators change structure in the browser, on or off (DOCENT_CONFIG_WRITABLE)", func(v string) (err error) {
		s.configWritable, err = onOff("-config-writable", v)
		return err
	})
}

// check validates all settings at once, so that one start shows every mistake.
func (s *settings) check() error {
	var errs []error
	host, port, err := net.SplitHostPort(s.listen)
	if err != nil {
		errs = append(errs, fmt.Errorf("DOCENT_LISTEN is %q; it must be an address and a port, such as 127.0.0.1:8080", s.listen))
	} else if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		errs = append(errs, fmt.Errorf("DOCENT_LISTEN has the port %q; it must be a number from 0 to 65535", port))
	} else if s.baseURL == "" {
		if host == "" || host == "0.0.0.0" || host == "::" {
			host = "localhost"
		}
		s.baseURL = "http://" + net.JoinHostPort(host, strconv.FormatUint(n, 10))
	}
	s.base, err = url.Parse(s.baseURL)
	if err != nil || s.base.Host == "" || s.base.Scheme != "http" && s.base.Scheme != "https" || s.base.Path != "" && s.base.Path != "/" {
		errs = append(errs, fmt.Errorf("DOCENT_BASE_URL is %q; it must be like https://example.org, without a path", s.baseURL))
		s.base = &url.URL{}
	}
	s.base.Path = ""
	if s.databaseURL != "" {
		// The error of parsing would quote the address, and with it a password.
		if u, err := url.Parse(s.databaseURL); err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
			errs = append(errs, errors.New("DATABASE_URL must be a valid postgres:// address, or empty for SQLite"))
		}
	}
	if s.modelURL != "" {
		if u, err := url.Parse(s.modelURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			errs = append(errs, errors.New("DOCENT_MODEL_URL must be an http:// or https:// address"))
		}
		if s.model == "" {
			errs = append(errs, errors.New("DOCENT_MODEL must name the model to use at DOCENT_MODEL_URL"))
		}
	} else if s.model != "" || s.modelKey != "" {
		errs = append(errs, errors.New("DOCENT_MODEL and DOCENT_MODEL_KEY need DOCENT_MODEL_URL, the address of the API"))
	}
	if s.theme != "" {
		if info, err := os.Stat(s.theme); err != nil || !info.IsDir() {
			errs = append(errs, fmt.Errorf("DOCENT_THEME is %q, which is not a folder", s.theme))
		}
	}
	for _, p := range strings.FieldsFunc(s.trustedProxies, func(r rune) bool { return r == ',' || r == ' ' }) {
		if p == "none" {
			continue
		}
		prefix, err := netip.ParsePrefix(p)
		if addr, addrErr := netip.ParseAddr(p); addrErr == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("DOCENT_TRUSTED_PROXIES holds %q; each must be an address or a network like 10.0.0.0/8", p))
			continue
		}
		s.proxies = append(s.proxies, prefix)
	}
	return errors.Join(errs...)
}

// LogValue shows the settings without their secrets.
func (s *settings) LogValue() slog.Value {
	database := "sqlite in " + s.data
	if s.databaseURL != "" {
		database = place(s.databaseURL)
	}
	return slog.GroupValue(
		slog.String("listen", s.listen), slog.String("data", s.data), slog.String("base_url", s.baseURL),
		slog.String("database", database), slog.String("admin_password", redacted(s.adminPassword)),
		slog.Bool("demo", s.demo), slog.String("model_url", place(s.modelURL)), slog.String("model", s.model),
		slog.String("model_key", redacted(s.modelKey)), slog.String("rerank_url", redacted(s.rerankURL)),
		slog.String("rerank_key", redacted(s.rerankKey)), slog.String("langfuse", redacted(s.langfuseURL)), slog.String("theme", s.theme),
		slog.Bool("config_writable", s.configWritable), slog.String("trusted_proxies", s.trustedProxies),
		slog.Bool("crawl_private", s.crawlPrivate), slog.Bool("dev", s.dev))
}

// place is where an address leads, without what proves a right to go there.
func place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "not valid"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func redacted(secret string) string {
	if secret == "" {
		return ""
	}
	return "set"
}
