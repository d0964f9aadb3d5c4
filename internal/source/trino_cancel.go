package source

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"sync"
	"time"

	"interlock/internal/fault"
)

// trinoTransport tells the server of statements that nobody waits for any more. The
// driver often leaves that out when a context ends, and the server would go on for
// minutes. All requests of a statement carry one context, by which they are known.
// Its goroutines live for one request each, started when such a context ends.
type trinoTransport struct {
	inner http.RoundTripper

	mu   sync.Mutex
	open map[context.Context]*http.Request // what would end the statement
}

// trinoPage bounds a page of rows, which is held whole; servers aim at 16 MB.
const trinoPage = 64 << 20

var errPageTooLarge = fault.New(fault.TooLarge, "the server sent more than %d MB of rows at once, which is all that is read", trinoPage>>20).
	Suggest("Ask for less: leave out or shorten the large column.")

// In a JSON text a quote inside a value is escaped, so that only the key matches.
var trinoNext = regexp.MustCompile(`"nextUri"\s*:\s*"([^"\\]+)"`)

func (t *trinoTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.inner.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK || req.Method != http.MethodPost && req.Method != http.MethodGet {
		return resp, err
	}
	page, err := io.ReadAll(io.LimitReader(resp.Body, trinoPage+1))
	resp.Body.Close()
	switch {
	case err != nil:
		return nil, err
	case len(page) > trinoPage:
		return nil, errPageTooLarge
	}
	resp.Body = io.NopCloser(bytes.NewReader(page))
	t.follow(req, trinoNext.FindSubmatch(page))
	return resp, nil
}

// follow remembers how to end the statement; without a next page it has ended.
func (t *trinoTransport) follow(req *http.Request, next [][]byte) {
	ctx := req.Context()
	t.mu.Lock()
	defer t.mu.Unlock()
	_, known := t.open[ctx]
	if next == nil {
		delete(t.open, ctx)
		return
	}
	end, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodDelete, string(next[1]), nil)
	if err != nil {
		return // the driver will stumble over the address as well
	}
	end.Header = req.Header.Clone()
	t.open[ctx] = end
	if !known {
		context.AfterFunc(ctx, func() { t.abandon(ctx) })
	}
}

func (t *trinoTransport) abandon(ctx context.Context) {
	t.mu.Lock()
	end := t.open[ctx]
	delete(t.open, ctx)
	t.mu.Unlock()
	if end == nil {
		return
	}
	bounded, cancel := context.WithTimeout(end.Context(), 5*time.Second)
	defer cancel()
	if resp, err := t.inner.RoundTrip(end.WithContext(bounded)); err == nil {
		resp.Body.Close()
	}
}
