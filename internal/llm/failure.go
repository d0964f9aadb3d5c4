package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"interlock/internal/fault"
)

// An attemptError says why one attempt failed: what retry and fallback need to
// know. It travels as the cause of the fault that the caller sees. Its text has
// been cleared of keys.
type attemptError struct {
	code      fault.Code
	status    int           // of the HTTP answer; 0 if there was none
	text      string        // what the provider said
	retryable bool          // the same request may succeed later
	after     time.Duration // how long the provider asks to wait; 0 if it does not say
}

func (t *attemptError) Error() string {
	if t.status != 0 {
		return fmt.Sprintf("HTTP %d: %s", t.status, t.text)
	}
	return t.text
}

// errLeft says that the caller left its loop; nobody is there to hear of it.
var errLeft = errors.New("the caller left")

// parseRefusal reads an HTTP response that is no reply.
func parseRefusal(status int, header http.Header, body []byte, now time.Time) *attemptError {
	kind, text := providerError(body)
	t := &attemptError{code: fault.ModelFailed, status: status, text: text, after: retryAfter(header, now)}
	switch {
	case kind == "insufficient_quota":
		t.code = fault.ModelRateLimited
	case status == http.StatusTooManyRequests:
		t.code, t.retryable = fault.ModelRateLimited, true
	case tooLongText.MatchString(kind + " " + text):
		t.code = fault.ModelContext
	case status == http.StatusRequestTimeout || status >= 500:
		t.retryable = true
	}
	return t
}

// tooLongText matches how servers say that a request is longer than the model reads.
var tooLongText = regexp.MustCompile(`(?i)context_length_exceeded|exceed_context_size|(maximum|available|model'?s?) context|context (length|size|window)|prompt is too long`)

// parseStreamError reads an error that came within a stream.
func parseStreamError(raw []byte) *attemptError {
	kind, text := providerError(raw)
	t := &attemptError{code: fault.ModelFailed, text: text}
	switch kind {
	case "rate_limit_error", "rate_limit_exceeded", "429":
		t.code, t.retryable = fault.ModelRateLimited, true
	case "overloaded_error", "api_error", "server_error", "internal_error", "500", "502", "503", "529":
		t.retryable = true
	case "timeout_error", "504":
		t.code = fault.ModelTimeout
	}
	return t
}

// providerError finds type and message in the forms that servers use:
// {"error":{"type","code","message"}}, {"error":"text"}, {"message"}, {"detail"}, or plain text.
func providerError(body []byte) (kind, text string) {
	type plain struct {
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"` // a string or a number
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
		plain
	}
	if decode(body, &outer) != nil {
		return "", truncate(string(body), 300)
	}
	inner := outer.plain
	if len(outer.Error) > 0 {
		var s string
		if json.Unmarshal(outer.Error, &s) == nil {
			return "", truncate(s, 300)
		}
		inner = plain{}
		_ = decode(outer.Error, &inner)
	}
	code := strings.Trim(string(inner.Code), `"`)
	kind = inner.Type
	if code == "insufficient_quota" || kind == "" || kind == "error" {
		kind = code
	}
	text = inner.Message
	if text == "" {
		text = strings.Trim(string(inner.Detail), `"`)
	}
	if text == "" {
		text = string(body)
	}
	return kind, truncate(text, 300)
}

// retryAfter reads the header in milliseconds, seconds or as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e7 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// fault makes the error that the caller sees.
func (e *endpoint) fault(err error) *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	t, ok := errors.AsType[*attemptError](err)
	if !ok {
		t = &attemptError{code: fault.ModelFailed, retryable: true, text: "the connection failed: " + truncate(err.Error(), 300)}
	}
	t.text = e.redact(t.text)
	f := fault.Wrap(t, t.code, "%s: %s", e.Name(), t)
	switch {
	case e.local != "" && t.status == 0 && t.retryable:
		f.Suggest("Start the model server at %s, which was agreed to; `interlock model list` shows which run, `interlock model forget` takes the built-in model again.", e.local)
	case e.local != "" && t.status == http.StatusNotFound:
		f.Suggest("The server at %s does not have this model; `interlock model list` shows what it has.", e.local)
	case e.local != "" && (t.status == http.StatusUnauthorized || t.status == http.StatusForbidden):
		f.Suggest("The server at %s wants a key, and a model that was agreed to is sent none: start it without one, or set %s and name it with --openai-url and --model.", e.local, e.keyVar)
	case e.base != "" && t.status == 0 && t.code == fault.ModelFailed && t.retryable:
		f.Suggest("See that the model server at %s runs and that its address is right, then ask again.", e.redact(e.base))
	case t.status == http.StatusUnauthorized || t.status == http.StatusForbidden:
		f.Suggest("Check %s: the provider does not accept it for this model.", e.keyVar)
	case t.status == http.StatusNotFound || t.status == http.StatusMethodNotAllowed:
		f.Suggest("Check the name of the model and the base URL, which usually ends in /v1 for OpenAI-compatible servers.")
	case t.code == fault.ModelContext:
		f.Suggest("Ask in a new thread, load the model with a longer context, or use a model that reads more.")
	case t.code == fault.ModelRateLimited && !t.retryable:
		f.Suggest("The account has no credit left: top it up, or use another model.")
	case t.status >= 300 && t.status < 500 && t.code == fault.ModelFailed && !t.retryable:
		f.Suggest("The provider refuses the request itself; trying again will not help. Its message says why.")
	}
	return f
}

// cancelled is the fault of a request whose caller gave up or ran out of time.
func cancelled(ctx context.Context, name string) *fault.Fault {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Wrap(ctx.Err(), fault.ModelTimeout, "%s: the time for this turn ran out", name)
	}
	return fault.Wrap(ctx.Err(), fault.ModelFailed, "%s: the request was cancelled", name)
}

// redact removes the keys from a text of the provider or of a library.
func (e *endpoint) redact(text string) string {
	for _, s := range e.secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return keyLike.ReplaceAllString(text, "***")
}

// keyLike finds keys that a provider repeats in part, as in sk-abc****wxyz.
var keyLike = regexp.MustCompile(`\b(?:sk|pk|rk|key|gsk|xai)[-_][A-Za-z0-9_*.…-]{6,}`)

// decode reads JSON as far as it fits v: a field of an unexpected type is left
// empty. Only text that is no JSON is an error.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// truncate puts a text on one line and shortens it to n bytes.
func truncate(s string, n int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
