package source

import (
	"errors"
	"log/slog"
	"net/url"
	"strings"

	"interlock/internal/fault"
)

// A Secret is a password. However it is printed, encoded or logged, it shows
// nothing; Reveal is the one way to its text.
type Secret struct{ text string }

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal gives the text, for the driver that needs it and for its own safe place.
func (s Secret) Reveal() string { return s.text }

// IsZero says that there is none.
func (s Secret) IsZero() bool { return s.text == "" }

// String, GoString, MarshalText and LogValue hide the text.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return "••••"
}

// GoString hides the text from %#v.
func (s Secret) GoString() string { return "source.Secret{" + s.String() + "}" }

// MarshalText hides the text from JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the text from logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// scrub gives err without the secret: the error itself where its text is clean, else
// a plain one.
func (s Secret) scrub(err error) error {
	if err == nil || s.text == "" {
		return err
	}
	text := err.Error()
	clean := text
	for _, form := range []string{s.text, url.QueryEscape(s.text), url.PathEscape(s.text), url.UserPassword("", s.text).String()[1:]} {
		clean = strings.ReplaceAll(clean, form, s.String())
	}
	if clean == text {
		return err
	}
	return errors.New(clean)
}

// SplitURL takes the password out of a URL.
func SplitURL(raw string) (bare string, password Secret, err error) {
	u, err := url.Parse(raw)
	if err != nil { // its text would repeat the URL, password and all
		return "", Secret{}, fault.New(fault.SourceUnreadable, "the address is not a URL").
			Suggest("Write it like postgres://user:password@host:5432/database; characters such as @ and # in a password are percent-encoded.")
	}
	query := u.Query()
	if p := query.Get("password"); p != "" {
		password = NewSecret(p)
		query.Del("password")
		u.RawQuery = query.Encode()
	}
	if u.User != nil {
		if p, ok := u.User.Password(); ok {
			password = NewSecret(p)
			u.User = url.User(u.User.Username())
		}
	}
	return u.String(), password, nil
}
