package answer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
)

// Scores sends visitors' votes to Langfuse, as the score user_feedback of the
// run's trace.
type Scores struct{ out *outbox }

// A Score is a vote on the run with a trace id.
type Score struct {
	TraceID string
	Rating  Rating
	Comment string
}

// NewScores returns the sender for a Langfuse project; base is the server's address.
func NewScores(base, publicKey, secretKey string, log *slog.Logger) (*Scores, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the address must be an http:// or https:// address")
	}
	if publicKey == "" || secretKey == "" {
		return nil, errors.New("a public and a secret key are needed (LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY)")
	}
	header := http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(publicKey+":"+secretKey))}}
	return &Scores{newOutbox("langfuse", strings.TrimSuffix(base, "/")+"/api/public/scores", header, log)}, nil
}

// Send sends a vote. A later one on the same run takes its place: both have one id.
func (s *Scores) Send(v Score) {
	value := 0
	if v.Rating == Positive {
		value = 1
	}
	body, err := json.Marshal(map[string]any{
		"id": v.TraceID + "-user_feedback", "traceId": v.TraceID, "name": "user_feedback", "value": value, "dataType": "NUMERIC", "comment": v.Comment,
	})
	if err == nil {
		s.out.send(body)
	}
}

// Close waits for what is on its way, until ctx ends.
func (s *Scores) Close(ctx context.Context) { s.out.close(ctx) }
