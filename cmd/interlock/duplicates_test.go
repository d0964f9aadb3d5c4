package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// obedient is a model that makes the calls which the person's message lists behind
// "do:", one by one, and then says that it is done.
func obedient(user string, results int) line {
	var text string
	if json.Unmarshal([]byte(user), &text) != nil {
		return line{text: "I do not understand."}
	}
	_, list, _ := strings.Cut(text, "do: ")
	list, _, _ = strings.Cut(list, "\n")
	var calls []struct {
		Name string
		Args json.RawMessage
	}
	if json.Unmarshal([]byte(list), &calls) != nil || results >= len(calls) {
		return line{text: "Done."}
	}
	return line{calls: []lineCall{{calls[results].Name, string(calls[results].Args)}}}
}

// A conversation is a thread with the obedient model.
type conversation struct {
	*process
	t      *testing.T
	thread string
}

// An outcome is what became of a call.
type outcome struct {
	Name   string          `json:"name"`
	Status string          `json:"status"`
	Reason fault.Code      `json:"reason"`
	Output json.RawMessage `json:"output"`
}

// do has the model make calls in one turn; each is a tool's name and its arguments.
func (c *conversation) do(words string, extra map[string]any, calls ...string) (results []outcome, made []event.ArtifactMade) {
	c.t.Helper()
	var list []string
	for _, call := range calls {
		name, args, _ := strings.Cut(call, " ")
		list = append(list, fmt.Sprintf(`{"name":%q,"args":%s}`, name, args))
	}
	body := map[string]any{"message": words + " do: [" + strings.Join(list, ",") + "]", "dataset_id": "shop", "machine": "workbench"}
	if c.thread != "" {
		body = map[string]any{"message": body["message"], "dataset_id": "shop", "thread_id": c.thread}
	}
	for k, v := range extra {
		body[k] = v
	}
	raw, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	all := c.say(string(raw))
	for _, s := range pick[struct {
		Thread string `json:"thread_id"`
	}](c.t, all, "state") {
		c.thread = s.Thread
	}
	results, made = pick[outcome](c.t, all, "tool_result"), pick[event.ArtifactMade](c.t, all, "artifact")
	results = slices.DeleteFunc(results, func(r outcome) bool { return r.Name == "describe_dataset" }) // the machine's own
	if len(results) != len(calls) {
		c.t.Fatalf("%d results of %d calls: %+v", len(results), len(calls), all)
	}
	return results, made
}

func sqlCall(sql string) string {
	raw, _ := json.Marshal(sql)
	return fmt.Sprintf(`run_sql {"dataset_id":"shop","name":"totals","sql":%s}`, raw)
}

// TestNothingTwice goes through the ways in which a call comes again: it is answered
// with the earlier result, unless that could be another one now.
func TestNothingTwice(t *testing.T) {
	w := newWorld(t)
	a := newActor(t, obedient)
	w.flags, w.env = append(w.flags, a.flags()...), append(w.env, "OPENAI_API_KEY=sk-test")
	c := &conversation{process: w.serve(), t: t}

	const sql = "SELECT status, sum(amount) AS total FROM orders GROUP BY status ORDER BY status"
	skipped := func(when string, got outcome, want bool) {
		t.Helper()
		if is := got.Status == "duplicate" && got.Reason == fault.DuplicateCall; is != want || !want && got.Status != "ok" {
			t.Errorf("%s: %s %s, want that it is skipped: %t", when, got.Status, got.Reason, want)
		}
	}
	first, _ := c.do("Totals, please,", nil, sqlCall(sql), sqlCall(sql))
	skipped("the first call", first[0], false)
	skipped("the same call in the turn", first[1], true)

	for _, again := range []struct {
		when, sql string
		want      bool
	}{
		{"continue", sql, true},
		{"other blanks and case of keywords", "select status,\n\tsum( amount ) as total\nfrom   orders group by status order by status", true},
		{"a comment", "/* totals */ " + sql + " -- by status", true},
		{"a semicolon", sql + ";", true},
		{"an alias of the table", "SELECT o.status, sum(o.amount) AS total FROM orders AS o GROUP BY o.status ORDER BY o.status", true},
		{"another alias of the table", "SELECT x.status, sum(x.amount) AS total FROM Orders x GROUP BY x.status ORDER BY x.status", true},
		{"a name for a part", "WITH part AS (SELECT status, amount FROM orders) SELECT status, sum(amount) AS total FROM part GROUP BY status ORDER BY status", false},
		{"another name for the part", "with rows_of as (select status, amount from orders) select status, sum(AMOUNT) as total from rows_of group by status order by status asc", true},
		{"another name of a column", strings.ReplaceAll(sql, "total", "summe"), false},
		{"another constant", "SELECT status, sum(amount) AS total FROM orders WHERE amount > 1 GROUP BY status ORDER BY status", false},
		{"a volatile statement", "SELECT count(*) AS n, now() AS at FROM orders", false},
		{"the volatile statement again", "SELECT count(*) AS n, now() AS at FROM orders", false},
	} {
		got, _ := c.do("Continue,", nil, sqlCall(again.sql))
		skipped(again.when, got[0], again.want)
	}
	got, _ := c.do("Once more,", map[string]any{"rerun": true}, sqlCall(sql))
	skipped("a rerun by the person's button", got[0], false)
	got, _ = c.do("Please run it again,", nil, sqlCall(sql))
	skipped("a rerun by the person's words", got[0], false)
	got, _ = c.do("Continue,", nil, sqlCall(sql))
	skipped("after the rerun", got[0], true)
	got, _ = c.do("Go on,", nil, `run_sql {"dataset_id":"shop","name":"totals","rerun":true,"sql":"SELECT status, sum(amount) AS total FROM orders GROUP BY status ORDER BY status"}`)
	if got[0].Status == "ok" {
		t.Errorf("a model's own flag made it run again: %s", got[0].Output)
	}

	got, _ = c.do("Continue,", nil, `run_sql {"dataset_id":"shop","name":"large","sql":"SELECT status FROM totals WHERE total > 1 ORDER BY status"}`)
	skipped("a statement over an earlier result", got[0], false)
	got, _ = c.do("Continue,", nil, `run_sql {"dataset_id":"shop","name":"large","sql":"select t.status from Totals as t where (t.total > 1) order by t.status -- again"}`)
	skipped("the same over the earlier result in other words", got[0], true)

	_, made := c.do("Draw it,", nil, `make_chart {"from":"totals"}`, `save_artifact {"from":"totals","name":"totals","format":"csv"}`)
	if len(made) != 3 || made[0].Reused || made[2].Reused {
		t.Fatalf("made %+v", made)
	}
	got, again := c.do("Draw it and save it under another name,", nil, `make_chart {"from":"totals"}`, `save_artifact {"from":"totals","name":"summen","format":"csv"}`)
	skipped("the chart again", got[0], true)
	if len(again) != 1 || again[0].ID != made[2].ID || again[0].Reason != fault.DuplicateArtifact {
		t.Errorf("the same rows under another name: %+v, want %s again", again, made[2].ID)
	}

	w.write("data/shop/orders.csv", "id,customer_id,amount,status\n9,9,9,gone\n")
	eventually(t, "the new data is seen", func() bool {
		got, made = c.do("Continue,", nil, sqlCall(sql))
		return got[0].Status == "ok"
	})
	if len(made) != 1 || made[0].Version < 2 {
		t.Errorf("the statement over new data: %+v, want a version of its artifact", made)
	}
	got, made = c.do("Draw it again,", nil, `make_chart {"from":"totals"}`, `save_artifact {"from":"totals","name":"totals","format":"csv"}`)
	skipped("a chart of new rows", got[0], false)
	if len(made) != 3 || made[0].Version != 2 || made[2].Version != 2 || made[2].ID != again[0].ID {
		t.Errorf("files of new rows: %+v, want second versions", made)
	}
	c.checkCounters()
	c.checkInventory(a, made[2])
	c.checkForkAndRestart(w, a, made[2])
}

// checkCounters reads what was skipped and prevented from the program's metrics.
func (c *conversation) checkCounters() {
	c.t.Helper()
	res, err := c.request("GET", "/metrics", "")
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	for _, want := range []string{`duplicate_skips_total{`, `artifact_dedups_total{producer="file"} 1`} {
		if !strings.Contains(string(raw), want) {
			c.t.Errorf("no counter %s in\n%s", want, raw)
		}
	}
}

// checkInventory looks at the recorded requests: once there is an artifact, every one
// of the thread's lists it, with the rule to use it again.
func (c *conversation) checkInventory(a *actor, newest event.ArtifactMade) {
	c.t.Helper()
	a.forget()
	c.do("Continue,", nil, `make_chart {"from":"totals"}`, `get_dataset_schema {"dataset_id":"shop"}`)
	if all, _ := a.counts(); all != 3 {
		c.t.Errorf("%d requests", all)
	}
	a.eachRequest(func(request string) {
		line := "artifact_id=" + newest.ID + " name=\\\"totals.csv\\\" type=csv"
		if !strings.Contains(request, line) || !strings.Contains(request, "do not make one of these again") || !strings.Contains(request, "version=2") {
			c.t.Errorf("a request does not list %s:\n%.3000s", newest.ID, request)
		}
	})
}

// checkForkAndRestart goes on in another process, and in a fork there.
func (c *conversation) checkForkAndRestart(w *world, a *actor, newest event.ArtifactMade) {
	c.t.Helper()
	c.stop()
	c.process = w.serve()
	var fork struct {
		Thread string `json:"thread_id"`
	}
	var view struct {
		Seq int64 `json:"seq"`
	}
	c.call("GET", "/api/threads/"+c.thread, "", http.StatusOK, &view)
	c.call("POST", "/api/threads/"+c.thread+"/fork", fmt.Sprintf(`{"seq":%d}`, view.Seq), http.StatusOK, &fork)
	for _, thread := range []string{c.thread, fork.Thread} {
		a.forget()
		c.thread = thread
		got, made := c.do("Continue,", nil, `make_chart {"from":"totals"}`, `save_artifact {"from":"totals","name":"other","format":"csv"}`)
		if got[0].Status != "duplicate" || len(made) != 1 || made[0].ID != newest.ID || !made[0].Reused {
			c.t.Errorf("in %s: %+v, %+v", thread, got, made)
		}
		a.eachRequest(func(request string) {
			if !strings.Contains(request, newest.ID) {
				c.t.Errorf("a request in %s does not list %s", thread, newest.ID)
			}
		})
	}
}

// eachRequest goes through what the actor was asked.
func (a *actor) eachRequest(f func(request string)) {
	a.mu.Lock()
	requests := make([]string, 0, len(a.asked))
	for r := range a.asked {
		requests = append(requests, r)
	}
	a.mu.Unlock()
	slices.Sort(requests)
	for _, r := range requests {
		f(r)
	}
}

// TestSkippedResultHasItsName: two results and two charts get one name. A skipped call says
// under which name its result is, and later steps find exactly that under the name.
func TestSkippedResultHasItsName(t *testing.T) {
	w := newWorld(t)
	a := newActor(t, obedient)
	w.flags, w.env = append(w.flags, a.flags()...), append(w.env, "OPENAI_API_KEY=sk-test")
	c := &conversation{process: w.serve(), t: t}
	sums, counts := sqlCall("SELECT status, sum(amount) AS total FROM orders GROUP BY status ORDER BY status"), sqlCall("SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY status")
	const draw, look = `make_chart {"from":"totals","title":"By status"}`, `run_python {"code":"print(list(totals.columns))"}`
	report := func(title string) string {
		return fmt.Sprintf(`write_report {"title":%q,"markdown":"![It](by_status)","format":"html"}`, title)
	}
	c.do("Sums,", nil, sums, draw)
	c.do("Counts,", nil, counts, draw)
	got, made := c.do("Sums again,", nil, sums, look, draw, report("Sums"))
	if got[0].Status != "duplicate" || got[2].Status != "duplicate" {
		t.Fatalf("%+v", got)
	}
	if !strings.Contains(string(got[1].Output), `['status', 'total']`) {
		t.Errorf("Python finds another result under the name of a skipped call: %s", got[1].Output)
	}
	if text := string(c.artifact(made[len(made)-1])); !strings.Contains(text, "total") {
		t.Errorf("the report shows another chart under the name of a skipped call:\n%.3000s", text)
	}
}
