package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/audit"
	"interlock/internal/fault"
	"interlock/internal/server"
)

type auditLine struct {
	User, Via, Request, Action, Object, Thread, Run, Detail, Hash string
	Seq                                                           int64
}

// What users change, hand out and are refused stands in the audit log, which admins alone read.
func TestAudit(t *testing.T) {
	e := newDesk(t, 0)
	r := serve(t, e, func(cfg *server.Config) {
		withUsers(cfg)
		cfg.Audit = e.store
	})
	alice, bob, vic := "Authorization: Bearer "+aliceToken, "Authorization: Bearer "+bobToken, "Authorization: Bearer "+vicToken
	asked := get[map[string]any](t, r, "POST", "/chat", `{"message":"card"}`, alice, "X-Request-Id: first")
	thread, card := asked["thread_id"].(string), asked["card"].(map[string]any)["card_id"].(string)
	for _, do := range []struct {
		method, path, body, who string
		status                  int
	}{
		{"POST", "/chat", fmt.Sprintf(`{"thread_id":%q,"card_response":{"card_id":%q,"answer":"confirm"}}`, thread, card), alice, 200},
		{"POST", "/api/sources", `{"url":"postgres://u:secret@db/x","alias":"db"}`, bob, 200},
		{"DELETE", "/api/sources/nope", "", bob, 404},
		{"DELETE", "/api/sources/orders", "", alice, 403},
		{"DELETE", "/api/sources/orders", "", alice, 403}, // is not told again at once
		{"GET", "/api/artifacts/a_alice", "", alice, 200},
		{"GET", "/api/artifacts", "", alice, 200}, // lists and hands out nothing
		{"POST", "/api/threads/" + thread + "/stop", "", alice, 200},
		{"DELETE", "/api/threads/" + thread, "", vic, 403},
		{"DELETE", "/api/threads/" + thread, "", alice, 200},
		{"GET", "/api/me", "", "Authorization: Bearer wrong-wrong-wrong", 401},
		{"GET", "/api/me", "", "Authorization: Bearer wrong-wrong-again", 401},
		{"GET", "/api/me", "", "X-Nothing: 1", 401}, // nobody tried a token
		{"GET", "/api/audit", "", alice, 403},
		{"POST", "/chat", `{"message":`, alice, 400},
	} {
		if res, text := r.do(t, do.method, do.path, do.body, do.who); res.StatusCode != do.status {
			t.Errorf("%s %s: %d %s", do.method, do.path, res.StatusCode, text)
		}
	}
	want := []string{
		"alice http begin a turn |thread|",
		"alice http answer a card card|thread|confirm",
		"bob http POST /api/sources /api/sources: db||",
		"bob http DELETE /api/sources/{alias} /api/sources/nope||",
		"bob http DELETE /api/sources/{alias} /api/sources/nope||failed: source_not_registered",
		"alice http DELETE /api/sources/{alias} /api/sources/orders||refused: forbidden",
		"alice http GET /api/artifacts/{id} /api/artifacts/a_alice||",
		"alice http POST /api/threads/{id}/stop /api/threads/thread/stop||",
		"vic http DELETE /api/threads/{id} /api/threads/thread||refused: forbidden",
		"alice http remove a thread |thread|",
		"  use a token 127.0.0.1||refused: unauthorized",
	}
	res, text := r.do(t, "GET", "/api/audit", "", bob)
	if res.StatusCode != http.StatusOK || strings.Contains(text, "secret") || strings.Contains(text, "wrong") {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	lines := decode[struct{ Entries []auditLine }](t, text).Entries
	slices.Reverse(lines)
	var got []string
	for _, l := range lines {
		line := fmt.Sprintf("%s %s %s %s|%s|%s", l.User, l.Via, l.Action, l.Object, l.Thread, l.Detail)
		got = append(got, strings.NewReplacer(thread, "thread", card, "card").Replace(line))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if lines[0].Request != "first" || lines[0].Run == "" || len(lines[0].Hash) != 64 {
		t.Errorf("%+v", lines[0])
	}
	last := lines[len(lines)-1]
	for _, sc := range []scenario{
		{name: "verify", url: "/api/audit/verify", has: []string{`"entries":11`, `"intact":true,"findings":[]`, last.Hash}},
		{name: "with its head", url: fmt.Sprintf("/api/audit/verify?head=%d:%s", last.Seq, last.Hash), has: []string{`"intact":true`}},
		{name: "cut", url: fmt.Sprintf("/api/audit/verify?head=%d:%s", last.Seq+3, last.Hash), has: []string{`"intact":false`, "was cut off"}},
		{name: "no head", url: "/api/audit/verify?head=x", status: 400, has: []string{"is no head"}},
		{name: "page", url: "/api/audit?before=3&limit=1", has: []string{`{"entries":[{"seq":2,`}, hasNot: []string{`"seq":1,`}},
	} {
		sc.headers = []string{bob}
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
}

// fullAudit cannot record.
type fullAudit struct{ server.Audit }

func (fullAudit) RecordAction(context.Context, audit.Entry) error {
	return fault.Wrap(errors.New("no space"), fault.StoreFailed, "cannot write the log: the disk is full")
}

// What cannot be recorded is not done.
func TestAuditFull(t *testing.T) {
	removed := &removing{}
	r := start(t, func(cfg *server.Config) { cfg.Audit, cfg.Sources = fullAudit{}, removed })
	scenario{method: "DELETE", url: "/api/sources/orders", status: 503, has: []string{`"code":"store_failed"`}}.run(t, r)
	if removed.done {
		t.Error("the source was removed")
	}
}

type removing struct {
	data
	done bool
}

func (r *removing) Remove(context.Context, string) error { r.done = true; return nil }
