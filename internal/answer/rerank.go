package answer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	rerankTimeout = 5 * time.Second
	rerankLimit   = 1 << 20 // bytes of an answer that are read
)

// A Reranker reorders passages by a model at an HTTP endpoint. With a model's name
// it speaks as Cohere, Jina, vLLM and Infinity do, without one as Hugging Face's
// text-embeddings-inference.
type Reranker struct {
	endpoint, model, key string
	client               *http.Client
}

// NewReranker checks the endpoint's address, which is the whole one, path included.
func NewReranker(endpoint, model, key string) (*Reranker, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the rerank endpoint must be an http:// or https:// address")
	}
	return &Reranker{endpoint: endpoint, model: model, key: key, client: &http.Client{Timeout: rerankTimeout}}, nil
}

// Order returns the indexes of texts, what fits query best first. Texts that the
// endpoint leaves out follow in the order they had.
func (k *Reranker) Order(ctx context.Context, query string, texts []string) ([]int, error) {
	body := map[string]any{"query": query, "texts": texts, "truncate": true}
	if k.model != "" {
		body = map[string]any{"query": query, "documents": texts, "model": k.model, "top_n": len(texts)}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.endpoint, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if k.key != "" {
		req.Header.Set("Authorization", "Bearer "+k.key)
	}
	res, err := k.client.Do(req)
	if err != nil {
		return nil, errors.Unwrap(err) // the whole one would show the address
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP %d", res.StatusCode)
	}
	data, err = io.ReadAll(io.LimitReader(res.Body, rerankLimit))
	if err != nil {
		return nil, err
	}
	return rerankOrder(data, len(texts))
}

type rerankRow struct {
	Index     *int     `json:"index"`
	Score     *float64 `json:"score"`
	Relevance *float64 `json:"relevance_score"`
}

// rerankOrder reads {"results": [{index, relevance_score}]} and [{index, score}].
func rerankOrder(data []byte, n int) ([]int, error) {
	var rows []rerankRow
	if strings.HasPrefix(string(bytes.TrimSpace(data)), "[") {
		if err := json.Unmarshal(data, &rows); err != nil {
			return nil, errors.New("not the JSON of a rerank endpoint")
		}
	} else {
		var whole struct{ Results, Data []rerankRow }
		if err := json.Unmarshal(data, &whole); err != nil {
			return nil, errors.New("not the JSON of a rerank endpoint")
		}
		rows = append(whole.Results, whole.Data...)
	}
	score := func(r rerankRow) float64 {
		switch {
		case r.Relevance != nil:
			return *r.Relevance
		case r.Score != nil:
			return *r.Score
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b rerankRow) int { return cmp.Compare(score(b), score(a)) })
	order := make([]int, 0, n)
	seen := make([]bool, n)
	add := func(i int) {
		if i >= 0 && i < n && !seen[i] {
			seen[i] = true
			order = append(order, i)
		}
	}
	for _, r := range rows {
		if r.Index != nil {
			add(*r.Index)
		}
	}
	if len(order) == 0 && n > 0 {
		return nil, errors.New("the rerank endpoint ordered nothing")
	}
	for i := range n {
		add(i)
	}
	return order, nil
}
