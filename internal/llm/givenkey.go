package llm

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"interlock/internal/fault"
)

// A GivenKey is a key of a provider that a person gave while the server runs. It is kept in
// a file that only the user of the server can read, goes to its provider alone, and is never
// told again.
type GivenKey struct {
	Provider string    `json:"provider"` // OpenAI or Anthropic
	Model    string    `json:"model,omitempty"`
	Key      string    `json:"key"`
	GivenAt  time.Time `json:"given_at"`
	GivenBy  string    `json:"given_by,omitempty"`
}

// String names the provider, never the key.
func (k GivenKey) String() string { return "key of " + k.Provider }

// GoString is String, so that %#v shows no key either.
func (k GivenKey) GoString() string { return "llm.GivenKey(" + k.Provider + ")" }

// LogValue is String, so that a logger shows no key.
func (k GivenKey) LogValue() slog.Value { return slog.StringValue(k.String()) }

// End is how a person recognises a key: its last four characters, none of a short one.
func (k GivenKey) End() string {
	if len(k.Key) < 20 {
		return ""
	}
	return k.Key[len(k.Key)-4:]
}

// Apply makes a configuration use the key. A model that the configuration names stays.
func (k GivenKey) Apply(c Config) Config {
	c.Model = cmp.Or(c.Model, k.Model)
	if k.Provider == Anthropic {
		c.AnthropicKey = k.Key
	} else {
		c.OpenAIKey = k.Key
	}
	return c
}

// maxKey bounds a key in bytes.
const maxKey = 500

// Check refuses what is no key, and asks the provider for its models, which costs nothing:
// so a key that does not work is noticed when it is given. c holds the address of the provider.
func (k GivenKey) Check(ctx context.Context, c Config) error {
	if k.Provider != OpenAI && k.Provider != Anthropic {
		return fault.New(fault.BadRequest, "there is no provider %q that takes a key", k.Provider).Suggest("Use %s or %s.", OpenAI, Anthropic)
	}
	if len(k.Key) < 8 || len(k.Key) > maxKey || strings.ContainsFunc(k.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fault.New(fault.BadRequest, "this is no key: one has 8 to %d letters, digits and signs without blanks", maxKey).
			Suggest("Copy it again from the console of the provider.")
	}
	names, err := k.listModels(ctx, c)
	if err != nil {
		return err
	}
	if k.Model != "" && len(names) > 0 && !slices.Contains(names, k.Model) {
		return fault.New(fault.BadRequest, "%s offers no model %q with this key", k.Provider, k.Model).
			Suggest("It has %s. The key was not kept.", strings.Join(fault.Nearest(k.Model, names), ", "))
	}
	return nil
}

// listModels asks the provider which models the key may use. No redirect is followed: the
// key goes to the provider only.
func (k GivenKey) listModels(ctx context.Context, c Config) ([]string, error) {
	base, header := "https://api.openai.com/v1/models", http.Header{"Authorization": {"Bearer " + k.Key}}
	if k.Provider == Anthropic {
		base = strings.TrimSuffix(cmp.Or(c.AnthropicBaseURL, "https://api.anthropic.com"), "/") + "/v1/models?limit=1000"
		header = http.Header{"X-Api-Key": {k.Key}, "Anthropic-Version": {"2023-06-01"}}
	}
	client := *cmp.Or(c.HTTPClient, http.DefaultClient)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	var list struct {
		Data []listedModel `json:"data"`
	}
	err := getJSON(ctx, &client, base, header, &list)
	if status, ok := errors.AsType[statusError](err); ok && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
		return nil, fault.New(fault.BadRequest, "%s does not accept this key (HTTP %d)", k.Provider, int(status)).
			Suggest("Copy it again from the console of the provider. It was not kept.")
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.ModelFailed, "the key could not be tried: %s does not answer: %v", k.Provider, err).
			Suggest("Check that this machine reaches the provider, then try again. The key was not kept.")
	}
	return modelNames(list.Data), nil
}
