package aimock

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"testing"
)

// Mark stands in the text of a fixture for what the request told the model to repeat. It is
// one piece of the stream, so it must begin at a multiple of its length.
const Mark = "{{MARK}}"

// StartMarked is Start for a model that repeats a part of its request: the first group that
// the expression finds there takes the place of Mark in the answer.
func StartMarked(tb testing.TB, find *regexp.Regexp, fixtures ...Fixture) string {
	tb.Helper()
	target, err := url.Parse(Start(tb, fixtures...))
	if err != nil {
		tb.Fatal(err)
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(r.Body)
		if err != nil {
			tb.Errorf("reading the request: %v", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(asked))
		proxy := httputil.NewSingleHostReverseProxy(target)
		proxy.Transport = &http.Transport{DisableKeepAlives: true}
		proxy.ModifyResponse = func(res *http.Response) error {
			answer, err := io.ReadAll(res.Body)
			if group := find.FindSubmatch(asked); group != nil {
				answer = bytes.ReplaceAll(answer, []byte(Mark), group[1])
			}
			res.Body = io.NopCloser(bytes.NewReader(answer))
			res.ContentLength = -1
			res.Header.Del("Content-Length")
			return err
		}
		proxy.ServeHTTP(w, r)
	}))
	tb.Cleanup(front.Close)
	return front.URL
}
