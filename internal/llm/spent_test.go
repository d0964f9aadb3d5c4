package llm_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
)

// What failed attempts cost is counted with the reply that follows, and told by the error if none does.
func TestFailedAttemptsAreCounted(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":1000,"completion_tokens":50}`
	empty := answer{status: 200, body: "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]," + usage + "}\n\ndata: [DONE]\n\n"}
	words := answer{status: 200, body: "data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]," + usage + "}\n\ndata: [DONE]\n\n"}
	cost := map[string]llm.Price{"m": {Input: 2, Output: 10}}
	for name, tt := range map[string]struct {
		list   []answer
		output string
		models int
		code   fault.Code
		times  int
	}{
		"two empty, then words":    {list: []answer{empty, empty, words}, times: 3},
		"always empty":             {list: []answer{empty}, code: fault.ModelBadOutput, times: 5},
		"words in place of JSON":   {list: []answer{words}, output: `{"type":"object"}`, code: fault.ModelBadOutput, times: 1},
		"the next model answers":   {list: []answer{empty, empty, empty, empty, empty, words}, models: 2, times: 6},
		"both models always empty": {list: []answer{empty}, models: 2, code: fault.ModelBadOutput, times: 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := open(t, llm.Config{OpenAIKey: "k", Model: "m", Prices: cost, HTTPClient: &http.Client{Transport: &answers{list: tt.list}}})
				if tt.models == 2 {
					m = llm.Chain(nil, m, m)
				}
				req := ask("x")
				if tt.output != "" {
					req.Output = []byte(tt.output)
				}
				_, reply, err := hear(t.Context(), m, req)
				got := llm.UsageOf(err)
				if tt.code != "" {
					wantCode(t, err, tt.code)
				} else if err != nil {
					t.Fatal(err)
				} else {
					got = reply.Usage
				}
				if want := (event.Usage{Input: 1000 * tt.times, Output: 50 * tt.times, MicroUSD: int64(2500 * tt.times)}); got != want {
					t.Errorf("%+v, want %+v", got, want)
				}
			})
		})
	}
}
