package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/source"
)

func TestSecretIsNeverShown(t *testing.T) {
	s := source.NewSecret(secret)
	c := source.Config{URL: "postgres://u@h/d", Password: s}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "config", c)
	encoded, err := json.Marshal(map[string]any{"a": s, "b": c.Password})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{s.String(), fmt.Sprintf("%v %+v %#v %s %q", s, s, s, s, s), fmt.Sprintf("%v %+v %#v", c, c, c), log.String(), string(encoded)} {
		if strings.Contains(text, secret) {
			t.Errorf("the secret is in %s", text)
		}
	}
	if s.Reveal() != secret {
		t.Error("the secret is lost")
	}
}

func TestSplitURL(t *testing.T) {
	for _, c := range []struct{ raw, bare, password string }{
		{"postgres://u:p%40ss@h:5432/d?sslmode=disable", "postgres://u@h:5432/d?sslmode=disable", "p@ss"},
		{"postgres:///d?password=geheim&user=x", "postgres:///d?user=x", "geheim"},
		{"mysql://u@h/d", "mysql://u@h/d", ""},
	} {
		bare, password, err := source.SplitURL(c.raw)
		if err != nil || bare != c.bare || password.Reveal() != c.password {
			t.Errorf("%s: %s, %q, %v", c.raw, bare, password.Reveal(), err)
		}
	}
	_, _, err := source.SplitURL("postgres://u:" + secret + "@h/d")
	if !fault.Is(err, fault.SourceUnreadable) {
		t.Errorf("a URL with a raw password: %v", err)
	}
	noSecret(t, err)
}

func TestUnreachableDatabase(t *testing.T) {
	for _, address := range []string{"postgres://u:%s@127.0.0.1:1/d", "mysql://u:%s@127.0.0.1:1/d", "clickhouse://u:%s@127.0.0.1:1/d", "trino://u:%s@127.0.0.1:1/c/s"} {
		address = fmt.Sprintf(address, "pa%2Fss:w%23rd%201")
		s, err := source.Open(t.Context(), source.Config{URL: address, Table: "t"})
		if err == nil {
			_, err = s.Describe(t.Context())
			s.Close()
		}
		if !fault.Is(err, fault.SourceUnreadable) {
			t.Errorf("%s: %v, want source_unreadable", address, err)
		}
		noSecret(t, err)
	}
	_, err := source.Open(t.Context(), source.Config{URL: "oracle://u:p@h/d"})
	if !fault.Is(err, fault.SourceUnreadable) || !strings.Contains(err.Error(), "postgres") {
		t.Errorf("an unknown scheme: %v", err)
	}
}
