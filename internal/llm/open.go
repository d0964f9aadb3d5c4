package llm

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"interlock/internal/fault"
)

// The providers that a configuration can name.
const (
	Auto      = "auto"
	OpenAI    = "openai"
	Anthropic = "anthropic"
	Local     = "local"
	Offline   = "offline"
)

// Providers lists the providers that Open knows besides auto.
var Providers = []string{OpenAI, Anthropic, Local, Offline}

// The models that are used where the configuration names none. Both take tools,
// stream and follow a schema through the endpoints that this package speaks.
const (
	DefaultOpenAI    = "gpt-5.4"
	DefaultAnthropic = "claude-sonnet-5-5"
)

// A Config says which model to open. The zero value is `auto` without keys: the
// offline model. Keys never appear where a Config is printed, logged or encoded.
type Config struct {
	Provider string // auto (default), openai, anthropic, local, offline
	Model    string // the provider's name for it; needed with OpenAIBaseURL, else the default of the provider

	OpenAIKey        string `json:"-"`
	OpenAIBaseURL    string // of a compatible server (OpenRouter, Ollama, vLLM, llama.cpp), which may need no key
	AnthropicKey     string `json:"-"`
	AnthropicBaseURL string

	// Local is the model on this machine that a person agreed to use; nil if there is none.
	Local *LocalModel
	// StillAgreed says whether that person still agrees; it is asked before a request to the
	// model is tried again. Nil is yes.
	StillAgreed func() bool `json:"-"`
	// Abilities is what is known of a model of a compatible server; nil if nothing is.
	Abilities *Abilities

	Timeout time.Duration // of one attempt, from request to last byte; 120 s if 0
	Idle    time.Duration // longest silence within a stream; 60 s if 0
	Retries int           // after the first attempt; 4 if 0, none if negative

	// Fallback lists what to try, in order, when this model fails before it said
	// anything. What an entry leaves empty it takes from here.
	Fallback []Config

	Prices     map[string]Price // by name or prefix of a model; goes before the built-in list
	Offline    Model            `json:"-"` // what `offline` stands for
	HTTPClient *http.Client     `json:"-"` // the default has no proxy settings beyond the environment's
	Log        *slog.Logger     `json:"-"` // hears of retries and fallbacks; discarded if nil
}

// String names the provider and the model, never a key.
func (c Config) String() string {
	return cmp.Or(c.Provider, Auto) + "/" + cmp.Or(c.Model, "default")
}

// GoString is String, so that %#v shows no key either.
func (c Config) GoString() string { return "llm.Config(" + c.String() + ")" }

// LogValue is String, so that a logger shows no key.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Open makes the model that the configuration asks for, with retries and
// fallbacks around it.
func Open(c Config) (Model, error) {
	first, err := c.openOne()
	if err != nil || len(c.Fallback) == 0 {
		return first, err
	}
	models := []Model{first}
	for i, f := range c.Fallback {
		m, err := Open(f.inherit(c))
		if err != nil {
			return nil, fmt.Errorf("opening fallback model %d: %w", i+1, err)
		}
		models = append(models, m)
	}
	return Chain(c.Log, models...), nil
}

func (c Config) openOne() (Model, error) {
	switch provider := c.resolveProvider(); provider {
	case OpenAI:
		if c.OpenAIKey == "" && c.OpenAIBaseURL == "" {
			return nil, keyMissing(OpenAI, "OPENAI_API_KEY")
		}
		if c.OpenAIBaseURL != "" && c.Model == "" {
			return nil, fault.New(fault.BadSetting, "a base URL for OpenAI-compatible servers is set, but no model is named").
				Suggest("Name a model that the server at that URL offers.")
		}
		if err := checkURL(c.OpenAIBaseURL); err != nil {
			return nil, err
		}
		return c.withinAbilities(c.withRetries(newOpenAI(c))), nil
	case Anthropic:
		if c.AnthropicKey == "" {
			return nil, keyMissing(Anthropic, "ANTHROPIC_API_KEY")
		}
		if err := checkURL(c.AnthropicBaseURL); err != nil {
			return nil, err
		}
		return c.withRetries(newAnthropic(c)), nil
	case Local:
		return c.openLocal()
	case Offline:
		if c.Offline == nil {
			return nil, fault.New(fault.ModelKeyMissing, "no provider has a key, and this program has no offline model")
		}
		return c.Offline, nil
	default:
		return nil, fault.New(fault.BadSetting, "there is no model provider %q", provider).
			Suggest("Use %s or one of %s.", Auto, strings.Join(Providers, ", "))
	}
}

// openLocal opens the model on this machine. No key is sent to its server, which may have
// been started by anybody who uses the machine.
func (c Config) openLocal() (Model, error) {
	if c.Local == nil {
		return nil, fault.New(fault.BadSetting, "the provider local is asked for, but nobody agreed to use a model server on this machine yet").
			Suggest("`interlock model list` shows which run; then run `interlock model use URL MODEL`.")
	}
	if err := CheckLocalURL(c.Local.URL); err != nil {
		return nil, err
	}
	name := cmp.Or(c.Model, c.Local.Model)
	c.Model, c.OpenAIKey, c.OpenAIBaseURL, c.Abilities = name, "", c.Local.URL, nil
	if name == c.Local.Model {
		c.Abilities = c.Local.Abilities
	}
	m := newOpenAI(c)
	m.provider, m.local = Local, c.Local.URL
	again := c.withRetries(m)
	if r, ok := again.(*retrying); ok {
		r.mayGoOn = c.StillAgreed
	}
	return c.withinAbilities(again), nil
}

// ReachesModel says whether a key or an address leads to a model other than the offline one.
func (c Config) ReachesModel() bool {
	c.Provider = Auto
	return c.resolveProvider() != Offline
}

// secrets lists the keys, which must not appear in messages.
func (c Config) secrets() []string { return []string{c.OpenAIKey, c.AnthropicKey} }

// resolveProvider resolves auto: OpenAI if it can be reached, else Anthropic, else a model
// on this machine if a person agreed to one, else the offline model.
func (c Config) resolveProvider() string {
	switch {
	case c.Provider != "" && c.Provider != Auto:
		return c.Provider
	case c.OpenAIKey != "" || c.OpenAIBaseURL != "":
		return OpenAI
	case c.AnthropicKey != "":
		return Anthropic
	case c.Local != nil:
		return Local
	default:
		return Offline
	}
}

// inherit fills what a fallback entry leaves empty. A key and its URL go
// together: a key is only ever sent to the server that it was given for.
func (c Config) inherit(from Config) Config {
	if c.OpenAIKey == "" && c.OpenAIBaseURL == "" {
		c.OpenAIKey, c.OpenAIBaseURL = from.OpenAIKey, from.OpenAIBaseURL
	}
	if c.AnthropicKey == "" && c.AnthropicBaseURL == "" {
		c.AnthropicKey, c.AnthropicBaseURL = from.AnthropicKey, from.AnthropicBaseURL
	}
	c.Timeout = cmp.Or(c.Timeout, from.Timeout)
	c.Idle = cmp.Or(c.Idle, from.Idle)
	c.Retries = cmp.Or(c.Retries, from.Retries)
	c.HTTPClient = cmp.Or(c.HTTPClient, from.HTTPClient)
	c.Log = cmp.Or(c.Log, from.Log)
	if c.Prices == nil {
		c.Prices = from.Prices
	}
	if c.Offline == nil {
		c.Offline = from.Offline
	}
	if c.Local == nil {
		c.Local, c.StillAgreed = from.Local, from.StillAgreed
	}
	return c
}

func (c Config) withRetries(m Model) Model {
	retries := cmp.Or(c.Retries, 4)
	if retries < 0 {
		return m
	}
	return &retrying{model: m, retries: retries, log: logger(c.Log)}
}

// withinAbilities keeps to what the model is known to be able to do.
func (c Config) withinAbilities(m Model) Model {
	if c.Abilities == nil {
		return m
	}
	if !c.Abilities.Tools {
		m = &textCalls{model: m}
	}
	if c.Abilities.Context > 0 { // around the rest: it shortens results, which texts no longer are
		m = &bounded{model: m, context: c.Abilities.Context, inText: !c.Abilities.Tools}
	}
	return m
}

func logger(l *slog.Logger) *slog.Logger {
	return cmp.Or(l, slog.New(slog.DiscardHandler))
}

func keyMissing(provider, variable string) error {
	return fault.New(fault.ModelKeyMissing, "the provider %s is asked for, but %s is not set", provider, variable).
		Suggest("Set %s to your key, or choose the provider `auto` or `offline`.", variable)
}

func checkURL(base string) error {
	if base == "" {
		return nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fault.New(fault.BadSetting, "the base URL of the model's server is not an http or https address").
			Suggest("Write it like http://localhost:11434/v1.")
	}
	return nil
}
