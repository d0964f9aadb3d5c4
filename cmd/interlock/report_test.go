package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/figure"
	"interlock/internal/toolbox"
)

// artifact downloads an output.
func (p *process) artifact(made event.ArtifactMade) []byte {
	p.t.Helper()
	res, err := p.request("GET", "/api/artifacts/"+made.ID, "")
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s %v", made.ID, res.Status, err)
	}
	return raw
}

// TestAnalysisToReport goes from SQL over Python on its result to a chart and a report,
// through the whole program. Asked for again nothing new is made, and "continue" goes
// on from what is there.
func TestAnalysisToReport(t *testing.T) {
	w := newWorld(t)
	a := newActor(t, obedient)
	w.flags, w.env = append(w.flags, a.flags()...), append(w.env, "OPENAI_API_KEY=sk-test")
	c := &conversation{process: w.serve(), t: t}
	markdown := "The paid orders come to **130.74** in all, 99.99 of them from one order.\n\n![Total by status](total_by_status)\n\n![All totals](totals)\n"
	text, _ := json.Marshal(markdown)
	calls := []string{
		`run_sql {"dataset_id":"shop","name":"totals","sql":"SELECT status, sum(amount) AS total, max(amount) AS largest FROM orders GROUP BY status ORDER BY status"}`,
		`run_python {"code":"result_df = totals.assign(share=totals.total / totals.total.sum())"}`,
		`make_chart {"from":"totals","y":"total"}`,
		`write_report {"title":"Orders by status","format":"html","markdown":` + string(text) + `}`,
		`write_report {"title":"Orders by status","format":"pdf","markdown":` + string(text) + `}`,
	}
	results, made := c.do("A report, please,", nil, calls...)
	for i, r := range results {
		if r.Status != "ok" {
			t.Fatalf("call %d: %s %s", i+1, r.Status, r.Output)
		}
	}
	files := map[string]event.ArtifactMade{}
	for _, m := range made {
		files[m.Type] = m // rows of Python are the last JSON but one
	}
	page := string(c.artifact(files["html"]))
	for _, want := range []string{"<svg ", "paid", "<caption>All totals</caption>", "result totals, column total, row 2", "result totals, column largest, row 2"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report has no %q:\n%s", want, page)
		}
	}
	if pdf := c.artifact(files["pdf"]); !bytes.HasPrefix(pdf, []byte("%PDF-")) || files["pdf"].Name != "Orders by status.pdf" {
		t.Errorf("%s begins with %.20q", files["pdf"].Name, pdf)
	}

	again, madeAgain := c.do("The report once more,", nil, calls...)
	for i, r := range again {
		if r.Status != "duplicate" || r.Reason != fault.DuplicateCall {
			t.Errorf("call %d again: %s %s %.300s", i+1, r.Status, r.Reason, r.Output)
		}
	}
	if slices.ContainsFunc(madeAgain, func(m event.ArtifactMade) bool { return !m.Reused }) {
		t.Errorf("asked for again, it made %+v", madeAgain)
	}

	text, _ = json.Marshal(markdown + "\nAnd one sentence more.\n")
	_, refined := c.do("Refine this: continue with one sentence more,", nil, `write_report {"title":"Orders by status","format":"pdf","markdown":`+string(text)+`}`)
	if len(refined) != 1 || refined[0].ID != files["pdf"].ID || refined[0].Version != 2 {
		t.Errorf("refined: %+v, want version 2 of %s", refined, files["pdf"].ID)
	}
	out, _ := c.do("Show it,", nil, `write_report {"title":"x","format":"html","markdown":"![x](sales)"}`)
	if out[0].Status != "failed" || !strings.Contains(string(out[0].Output), "total_by_status") {
		t.Errorf("a chart that does not exist: %s %s", out[0].Status, out[0].Output)
	}
}

// A figure that nothing supports is marked in the report, and the note that says so is no
// figure itself.
func TestReportMarksFigures(t *testing.T) {
	w := newWorkshop(t, nil)
	frames := w.fetch(t, "totals", "SELECT status, sum(amount) AS total FROM orders GROUP BY status ORDER BY status")
	args := map[string]any{"title": "Totals", "format": "html", "frames": frames, "question": "What was paid?", "markdown": "Paid: 130.74. Returned: 7. Lost: 4711.25."}
	var out toolbox.MadeOut
	if err := w.call(t.Context(), t, "write_report", args, &out); err != nil {
		t.Fatal(err)
	}
	page := string(w.artifactBytes(t, out.Artifact))
	if !strings.Contains(page, "result totals, column total, row 2") || !strings.Contains(page, `class="none">No origin was found`) || !strings.Contains(page, `4711.25<sup><a class="none"`) {
		t.Errorf("%s", page)
	}
	if !strings.Contains(out.Note, "The report marks figures for which no origin was found.") || figure.Holds(out.Note) {
		t.Errorf("the note is %q", out.Note)
	}
}

// TestReportAgreesWithAnswer: a report and an answer with the same words have the same
// figures without an origin. What the report's own note repeats of them supports nothing.
func TestReportAgreesWithAnswer(t *testing.T) {
	const text = "Paid: 130.74. Lost: 4,711.25. Planned: 48,211.37."
	script := []line{
		{calls: []lineCall{{"run_sql", `{"dataset_id":"shop","name":"totals","sql":"SELECT status, sum(amount) AS total FROM orders GROUP BY status ORDER BY status"}`}}},
		{calls: []lineCall{{"run_sql", `{"dataset_id":"shop","name":"plan","sql":"SELECT 48211.37 AS planned"}`}}},
		{calls: []lineCall{{"write_report", `{"title":"Lost: 4,711.25","format":"html","markdown":"` + text + `"}`}}},
		{text: text},
	}
	w := newWorld(t)
	a := newActor(t, func(_ string, results int) line { return script[min(results, len(script)-1)] })
	w.flags, w.env = append(w.flags, a.flags()...), append(w.env, "OPENAI_API_KEY=sk-test")
	p := w.serve()
	all := p.say(`{"message":"What was paid?","dataset_id":"shop","machine":"workbench"}`)
	var page string
	for _, made := range pick[event.ArtifactMade](t, all, "artifact") {
		if made.Type == "html" {
			page = string(p.artifact(made))
		}
	}
	for _, mark := range []string{`4,711.25<sup><a class="none"`, `48,211.37<sup><a class="none"`, "result totals, column total, row 2"} {
		if !strings.Contains(page, mark) {
			t.Errorf("the report has no %q:\n%s", mark, page)
		}
	}
	traced := p.figures(pick[struct {
		Thread string `json:"thread_id"`
	}](t, all, "state")[0].Thread)
	if traced.Unsupported != 2 || len(traced.Figures) != 3 || traced.Figures[0].Unsupported() ||
		traced.Figures[1].Support != figure.None || traced.Figures[2].Support != figure.Stated {
		t.Errorf("the answer has %+v", traced)
	}
}

// figures reads the origins of figures in the log of a thread, up to the end of its first turn.
func (p *process) figures(thread string) event.FiguresTraced {
	p.t.Helper()
	res, err := p.request("GET", "/api/threads/"+thread+"/events", "")
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	var found struct{ Body event.FiguresTraced }
	for ev := range sentEvents(res.Body) {
		switch ev.name {
		case string(event.KindFiguresTraced):
			if err := json.Unmarshal([]byte(ev.data), &found); err != nil {
				p.t.Fatalf("%s: %v", ev.data, err)
			}
		case string(event.KindTurnEnded):
			return found.Body
		}
	}
	p.t.Fatalf("%s has no end", thread)
	return found.Body
}

// TestOfflineReport asks the built-in model for a chart as a report: it fetches, draws
// and writes. Asked again, and told to continue, it makes nothing new.
func TestOfflineReport(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	thread := ""
	say := func(text string) (results []outcome, made []event.ArtifactMade, answer string) {
		t.Helper()
		body := map[string]any{"message": text, "dataset_id": "shop"}
		if thread == "" {
			body["machine"] = "workbench"
		} else {
			body["thread_id"] = thread
		}
		raw, _ := json.Marshal(body)
		all := p.say(string(raw))
		for _, s := range pick[struct {
			Thread string `json:"thread_id"`
		}](t, all, "state") {
			thread = s.Thread
		}
		for _, tok := range pick[struct{ Text string }](t, all, "token") {
			answer += tok.Text
		}
		return pick[outcome](t, all, "tool_result"), pick[event.ArtifactMade](t, all, "artifact"), answer
	}
	results, made, answer := say("Chart of total amount by status as a report")
	var names, types []string
	for _, r := range results {
		names = append(names, r.Name+" "+r.Status)
	}
	for _, m := range made {
		types = append(types, m.Type)
	}
	if want := []string{"get_dataset_schema ok", "run_sql ok", "make_chart ok", "write_report ok"}; !slices.Equal(names, want) {
		t.Fatalf("calls %q, want %q: %s %+v", names, want, answer, results)
	}
	if want := []string{"json", "json", "svg", "pdf"}; !slices.Equal(types, want) {
		t.Errorf("made %q, want %q", types, want)
	}
	for _, again := range []string{"Chart of total amount by status as a report", "continue"} {
		results, made, answer = say(again)
		if len(results) != 4 || slices.ContainsFunc(results, func(r outcome) bool { return r.Status != "duplicate" }) || len(made) != 0 {
			t.Errorf("%s: %+v, %+v, %s", again, results, made, answer)
		}
	}
}
