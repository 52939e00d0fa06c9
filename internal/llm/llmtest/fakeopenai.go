package llmtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Reply is what a [FakeOpenAI] answers to one request.
type Reply struct {
	Status int         // default 200
	Header http.Header // default Content-Type: text/event-stream for status 200
	// Pieces are written one by one, each flushed, so a test decides where the
	// bytes are split.
	Pieces []string
	// Gate, if set, holds back each piece until it is sent to once, so a test sees
	// every state of an answer; closing it lets the rest through.
	Gate <-chan struct{}
	// Hold keeps the response open after the pieces until it is closed or the
	// client goes away.
	Hold <-chan struct{}
	// Cut breaks the connection after the pieces instead of ending the body.
	Cut bool
}

// Stream is a well-formed streamed answer of these text deltas.
func Stream(deltas ...string) Reply {
	var r Reply
	r.Pieces = append(r.Pieces, chunk(`{"role":"assistant","content":""}`, ""))
	for _, d := range deltas {
		r.Pieces = append(r.Pieces, chunk(`{"content":`+quote(d)+`}`, ""))
	}
	r.Pieces = append(r.Pieces, chunk(`{}`, "stop"),
		`data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"total_tokens":19}}`+"\n\n", "data: [DONE]\n\n")
	return r
}

// StreamCall is a well-formed streamed call of one tool, its arguments in two
// fragments.
func StreamCall(name, arguments string) Reply {
	half := len(arguments) / 2
	return Reply{Pieces: []string{
		chunk(`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":`+
			quote(name)+`,"arguments":""}}]}`, ""),
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":`+quote(arguments[:half])+`}}]}`, ""),
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":`+quote(arguments[half:])+`}}]}`, ""),
		chunk(`{}`, "tool_calls"),
		"data: [DONE]\n\n",
	}}
}

// Raw answers with these bytes as an event stream.
func Raw(pieces ...string) Reply { return Reply{Pieces: pieces} }

// Refuse answers with a status and a JSON body.
func Refuse(status int, body string) Reply {
	return Reply{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Pieces: []string{body}}
}

func chunk(delta, finish string) string {
	reason := "null"
	if finish != "" {
		reason = quote(finish)
	}
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":` + reason + "}]}\n\n"
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always marshals
	}
	return string(b)
}

// FakeOpenAI is a chat completions server on a local port. It gives its replies
// in turn; without any it repeats the last message to whoever asks.
type FakeOpenAI struct {
	URL string // the base URL to configure

	server  *httptest.Server
	mu      sync.Mutex
	replies []Reply
	echo    bool
	got     []FakeRequest
}

// FakeRequest is a request that a [FakeOpenAI] received.
type FakeRequest struct {
	Path   string
	Header http.Header
	Body   string
}

// NewFakeOpenAI starts a server. The caller closes it.
func NewFakeOpenAI(replies ...Reply) *FakeOpenAI {
	f := &FakeOpenAI{replies: replies, echo: len(replies) == 0}
	f.server = httptest.NewServer(f)
	f.URL = f.server.URL
	return f
}

// Close stops the server and breaks what is still open.
func (f *FakeOpenAI) Close() {
	f.server.CloseClientConnections()
	f.server.Close()
}

// Requests returns the requests so far.
func (f *FakeOpenAI) Requests() []FakeRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]FakeRequest(nil), f.got...)
}

func (f *FakeOpenAI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	reply := f.next(FakeRequest{r.URL.Path, r.Header.Clone(), string(body)})
	w.Header().Set("Content-Type", "text/event-stream")
	for name, values := range reply.Header {
		w.Header()[name] = values
	}
	if reply.Status != 0 {
		w.WriteHeader(reply.Status)
	}
	flush := http.NewResponseController(w)
	for _, p := range reply.Pieces {
		if reply.Gate != nil {
			select {
			case <-reply.Gate:
			case <-r.Context().Done():
				return
			}
		}
		if _, err := io.WriteString(w, p); err != nil {
			return
		}
		if err := flush.Flush(); err != nil {
			return
		}
	}
	if reply.Hold != nil {
		select {
		case <-reply.Hold:
		case <-r.Context().Done():
		}
	}
	if reply.Cut {
		panic(http.ErrAbortHandler)
	}
}

func (f *FakeOpenAI) next(r FakeRequest) Reply {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = append(f.got, r)
	switch {
	case f.echo:
		return Stream(lastMessage(r.Body))
	case len(f.got) > len(f.replies):
		return Refuse(http.StatusInternalServerError, `{"error":{"message":"the fake has no more replies"}}`)
	}
	return f.replies[len(f.got)-1]
}

func lastMessage(body string) string {
	var request struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal([]byte(body), &request) != nil || len(request.Messages) == 0 {
		return "?"
	}
	return request.Messages[len(request.Messages)-1].Content
}
