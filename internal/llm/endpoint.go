package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"interlock/internal/fault"
)

// An endpoint is what the providers have in common: a model at a server, and the
// time it may take.
type endpoint struct {
	provider string
	model    string
	keyVar   string // the variable that holds the key
	base     string // address of the server that the settings name; "" for the provider's own
	local    string // address of a server on this machine; "" for any other
	secrets  []string
	client   *http.Client
	timeout  time.Duration
	idle     time.Duration
	prices   map[string]Price
}

// Reasons for which a watch ends an attempt.
var (
	errTooLong = errors.New("the answer took too long")
	errSilent  = errors.New("the stream fell silent")
)

// usageWait is how long a finished reply may wait for its token counts.
const usageWait = 5 * time.Second

func newEndpoint(c Config, provider, model, base, keyVar string) endpoint {
	e := endpoint{
		provider: provider,
		model:    model,
		keyVar:   keyVar,
		base:     base,
		timeout:  cmp.Or(c.Timeout, 120*time.Second),
		idle:     cmp.Or(c.Idle, 60*time.Second),
		prices:   c.Prices,
	}
	// A copy that follows no redirect: the key goes to the configured server only.
	client := *cmp.Or(c.HTTPClient, http.DefaultClient)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	e.client = &client
	password := ""
	if u, err := url.Parse(base); err == nil && u.User != nil {
		password, _ = u.User.Password()
	}
	for _, s := range append(c.secrets(), password) {
		if s != "" {
			e.secrets = append(e.secrets, s)
		}
	}
	return e
}

// Name is provider and model.
func (e *endpoint) Name() string { return e.provider + "/" + e.model }

// post sends a request to a path below the server's address. A response that is no
// reply becomes an attemptError, however long it is.
func (e *endpoint) post(ctx context.Context, base, path string, header http.Header, request any) (*http.Response, error) {
	address, err := url.Parse(base)
	if err != nil {
		return nil, fault.Wrap(err, fault.ModelFailed, "%s: the address of the server cannot be read", e.Name())
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, fault.Wrap(err, fault.ModelFailed, "%s: the request cannot be written", e.Name())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("User-Agent", "interlock")
	res, err := e.client.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return nil, failed.Err // without the address: its query may hold a key
	}
	if err != nil || res.StatusCode < 300 {
		return res, err
	}
	defer func() { _ = res.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	return nil, parseRefusal(res.StatusCode, res.Header, said, time.Now())
}

// An emitter hands a piece of text or of a thought to the caller; false means that the
// caller has left.
type emitter func(Delta) bool

// exchange makes one attempt: send asks, read turns the body into a reply and
// emits text on the way. It ends when ctx does, after the timeout, or when the
// stream falls silent, and always closes the connection that it leaves unread.
func (e *endpoint) exchange(ctx context.Context, yield func(Delta, error) bool,
	send func(context.Context) (*http.Response, error),
	read func(*idleTimeoutBody, emitter) (*Reply, error),
) {
	attempt, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	deadline := time.AfterFunc(e.timeout, func() { cancel(errTooLong) })
	defer deadline.Stop()

	reply, err := func() (*Reply, error) {
		res, err := send(attempt)
		if err != nil {
			return nil, err
		}
		body := &idleTimeoutBody{body: res.Body, idle: e.idle, kind: res.Header.Get("Content-Type"), cancel: cancel}
		defer func() { _ = res.Body.Close() }()
		return read(body, func(d Delta) bool { return yield(d, nil) })
	}()
	switch {
	case errors.Is(err, errLeft):
	case err == nil:
		yield(Delta{Reply: reply}, nil)
	case ctx.Err() != nil:
		yield(Delta{}, cancelled(ctx, e.Name()))
	case errors.Is(context.Cause(attempt), errTooLong):
		yield(Delta{}, WithUsage(fault.Wrap(errTooLong, fault.ModelTimeout, "%s: no whole answer within %s", e.Name(), e.timeout), UsageOf(err)))
	case errors.Is(context.Cause(attempt), errSilent):
		yield(Delta{}, WithUsage(fault.Wrap(errSilent, fault.ModelTimeout, "%s: the stream was silent for %s", e.Name(), e.idle), UsageOf(err)))
	default:
		yield(Delta{}, WithUsage(e.fault(err), UsageOf(err)))
	}
}

// An idleTimeoutBody is the body of a response that cancels the attempt when a read
// waits too long. The first byte may take as long as the attempt may, and time that
// the caller takes between reads does not count.
type idleTimeoutBody struct {
	body   io.ReadCloser
	kind   string // the content type
	idle   time.Duration
	begun  bool
	cancel context.CancelCauseFunc
}

func (w *idleTimeoutBody) Read(p []byte) (int, error) {
	if w.begun {
		defer time.AfterFunc(w.idle, func() { w.cancel(errSilent) }).Stop()
	}
	n, err := w.body.Read(p)
	w.begun = w.begun || n > 0
	return n, err
}

// shortenWait shortens the time-out for what may follow a finished reply.
func (w *idleTimeoutBody) shortenWait() { w.idle = min(w.idle, usageWait) }
