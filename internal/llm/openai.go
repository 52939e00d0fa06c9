package llm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// OpenAIOptions configure an [OpenAI]. BaseURL and Model are required; zero
// values of the rest mean the defaults named.
type OpenAIOptions struct {
	// BaseURL is the server's address, with or without a version and with or
	// without /chat/completions: https://api.openai.com, http://localhost:11434/v1.
	BaseURL string
	Model   string
	// Key is sent as a bearer token and never logged. Empty for local servers.
	Key    string
	Client *http.Client // default: one without an overall timeout
	Log    *slog.Logger // default: discard
	// Retries bounds the new attempts after a failure, made only while nothing
	// was emitted: default 2, negative for none.
	Retries int
	// RetryDelay is the first pause between attempts when the server names
	// none: default 500 ms, doubled each time, with jitter.
	RetryDelay time.Duration
	// MaxWait is the longest pause a server may ask for; beyond it the
	// generation fails at once and tells the pause: default 20 s.
	MaxWait time.Duration
	// FirstTimeout limits the wait for the first line, default 2 min: local
	// servers load the model first. IdleTimeout limits every later one, default 60 s.
	FirstTimeout time.Duration
	IdleTimeout  time.Duration
}

// largeBudget is the token limit of a second try after a model spent an unknown
// one on thinking alone.
const largeBudget = 8192

// OpenAI is a [Generator] for servers with an OpenAI-compatible chat
// completions endpoint. It is safe for concurrent use.
type OpenAI struct {
	endpoint, model, key string
	client               *http.Client
	log                  *slog.Logger
	retries              int
	retryDelay, maxWait  time.Duration
	first, idle          time.Duration

	mu      sync.Mutex
	refused map[string]bool // optional parameters the server does not take
}

// NewOpenAI checks the options and returns the model. It does not connect.
func NewOpenAI(opt OpenAIOptions) (*OpenAI, error) {
	endpoint, err := chatEndpoint(opt.BaseURL)
	if err != nil {
		return nil, err
	}
	if opt.Model == "" {
		return nil, errors.New("openai: no model named")
	}
	if strings.ContainsFunc(opt.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("openai: the key holds characters that a header cannot carry")
	}
	o := &OpenAI{
		endpoint: endpoint, model: opt.Model, key: opt.Key,
		client:     cmp.Or(opt.Client, &http.Client{}),
		log:        cmp.Or(opt.Log, slog.New(slog.DiscardHandler)),
		retries:    max(cmp.Or(opt.Retries, 2), 0),
		retryDelay: cmp.Or(opt.RetryDelay, 500*time.Millisecond),
		maxWait:    cmp.Or(opt.MaxWait, 20*time.Second),
		first:      cmp.Or(opt.FirstTimeout, 2*time.Minute),
		idle:       cmp.Or(opt.IdleTimeout, time.Minute),
		refused:    map[string]bool{},
	}
	return o, nil
}

var versionSegment = regexp.MustCompile(`/v[0-9][0-9a-z]*(/|$)`)

// chatEndpoint completes a base address. A path without a version gets /v1.
func chatEndpoint(base string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", errors.New("openai: the base URL must be an http or https address")
	}
	if u.User != nil {
		return "", errors.New("openai: the base URL must not hold credentials")
	}
	path := strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(path, "/chat/completions") {
		if !versionSegment.MatchString(path) {
			path += "/v1"
		}
		path += "/chat/completions"
	}
	u.Path, u.RawPath, u.Fragment = path, "", ""
	return u.String(), nil
}

// Name is the model's name.
func (o *OpenAI) Name() string { return o.model }

// Generate streams one answer. Failures that may pass are tried again while
// nothing was emitted; an answer of nothing but reasoning is tried once more with
// twice the tokens.
func (o *OpenAI) Generate(ctx context.Context, r Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var usage *Usage
		maxTokens, failures, triedEmpty := r.MaxTokens, 0, false
		for {
			a := o.attempt(ctx, r, maxTokens, yield)
			usage = addUsage(usage, a.usage)
			switch {
			case a.left:
				return
			case a.err == nil && a.finish == FinishEmpty && !triedEmpty:
				triedEmpty = true
				if maxTokens *= 2; maxTokens == 0 {
					maxTokens = largeBudget // the server's own was too small to say anything
				}
				o.log.Warn("model wrote nothing, asking again", "model", o.model)
			case a.err == nil:
				if usage != nil && !yield(Event{Usage: usage}, nil) {
					return
				}
				yield(Event{Finish: a.finish}, nil)
				return
			case a.adapted:
			case a.emitted || failures >= o.retries || !o.pause(ctx, a.err, failures):
				yield(Event{}, asError(ctx, a.err))
				return
			default:
				failures++
			}
		}
	}
}

func addUsage(sum, u *Usage) *Usage {
	if sum == nil || u == nil {
		return cmp.Or(u, sum)
	}
	return &Usage{sum.PromptTokens + u.PromptTokens, sum.CompletionTokens + u.CompletionTokens}
}

// pause waits before the next attempt. It is false when err will not pass, when
// the server wants more patience than allowed, or when the caller gave up.
func (o *OpenAI) pause(ctx context.Context, err *Error, failures int) bool {
	if err.Kind != KindRateLimited && err.Kind != KindUnavailable || err.RetryAfter > o.maxWait {
		return false
	}
	wait := o.retryDelay << failures
	wait = max(err.RetryAfter, wait/2) + rand.N(wait/2+1)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt is the outcome of one HTTP request.
type attempt struct {
	emitted bool // something reached the caller
	left    bool // the caller left the loop
	adapted bool // the server refused an optional parameter that is dropped from now on
	usage   *Usage
	finish  Finish
	err     *Error
}

var errIdle = errors.New("the server went silent")

func (o *OpenAI) attempt(parent context.Context, r Request, maxTokens int, yield func(Event, error) bool) attempt {
	body, err := o.encode(r, maxTokens)
	if err != nil {
		return attempt{err: &Error{Kind: KindInvalid, Err: err}}
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	idle := time.AfterFunc(o.first, func() { cancel(errIdle) })
	defer idle.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.endpoint, bytes.NewReader(body))
	if err != nil {
		return attempt{err: &Error{Kind: KindInvalid, Err: err}}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("Accept-Encoding", "identity") // compressing proxies hold back chunks
	if o.key != "" {
		req.Header.Set("Authorization", "Bearer "+o.key)
	}
	res, err := o.client.Do(req)
	if err != nil {
		return attempt{err: o.broken(parent, ctx, err)}
	}
	defer res.Body.Close()
	stream := io.Reader(res.Body)
	if strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip") {
		if stream, err = gzip.NewReader(stream); err != nil {
			return attempt{err: o.broken(parent, ctx, err)}
		}
	}
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(stream, 64<<10))
		e, adapted := o.refusal(res, text)
		return attempt{err: asError(parent, e), adapted: adapted && parent.Err() == nil}
	}
	s := &chatStream{model: o, res: res, idle: idle, yield: yield}
	a := s.read(stream)
	if a.err != nil && a.err.Kind == "" {
		a.err = o.broken(parent, ctx, a.err.Err)
	}
	return a
}

// broken is the error of a connection that failed: canceled, silent or cut.
func (o *OpenAI) broken(parent, ctx context.Context, err error) *Error {
	if context.Cause(ctx) == errIdle && parent.Err() == nil {
		err = errIdle
	}
	var u *url.Error
	if errors.As(err, &u) { // its text would show the whole address
		err = u.Err
	}
	e := asError(parent, err)
	if e.Kind != KindCanceled {
		o.log.Warn("model stream failed", "model", o.model, "error", e)
	}
	return e
}

func (o *OpenAI) refuses(parameter string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.refused[parameter]
}
