package main

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/event"
)

// TestResults goes the whole way of data through the server: a file comes in, is
// looked at, asked, exported as everything there is, read by page, and goes out again.
func TestResults(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	var before struct {
		Datasets []struct {
			ID      string
			Version string `json:"version_hash"`
		}
	}
	p.call("GET", "/datasets", "", http.StatusOK, &before)
	p.upload(t, "shop", "../refunds.csv", "id,sum,day\n1,5.25,2024-01-31\n2,7,2024-02-29\n3,,\n", http.StatusOK)
	p.upload(t, "shop", "refunds.csv", "id\n1\n", http.StatusConflict)
	p.upload(t, "shop", "refunds.exe", "id\n1\n", http.StatusBadRequest)
	var after struct {
		Datasets []struct {
			ID      string
			Version string `json:"version_hash"`
		}
	}
	p.call("GET", "/datasets", "", http.StatusOK, &after)
	if len(after.Datasets) != 1 || after.Datasets[0].Version == before.Datasets[0].Version {
		t.Errorf("the version did not change: %+v %+v", before, after)
	}
	var profile struct {
		Rows    int
		Columns []struct {
			Name, Type, Min, Max string
			Nulls, Distinct      int
		}
	}
	p.call("GET", "/api/sources/refunds/profile", "", http.StatusOK, &profile)
	if profile.Rows != 3 || len(profile.Columns) != 3 || profile.Columns[1].Nulls != 1 || profile.Columns[1].Max != "7.00" || profile.Columns[2].Type != "DATE" {
		t.Errorf("profile %+v", profile)
	}
	var some struct {
		Total int `json:"total_rows"`
		Rows  [][]any
	}
	p.call("GET", "/api/sources/refunds?offset=1&limit=1", "", http.StatusOK, &some)
	if len(some.Rows) != 1 || some.Rows[0][1] != 7.0 {
		t.Errorf("preview %+v", some)
	}
	p.call("POST", "/api/sources/refunds/load-scoped", `{"conditions":[{"column":"sum","op":"lt","value":6}]}`, http.StatusOK, &some)
	if some.Total != 1 || len(some.Rows) != 1 || some.Rows[0][0] != 1.0 {
		t.Errorf("scoped %+v", some)
	}
	const sql = `SELECT r.id, r.sum, r.day, c.name FROM refunds r JOIN customers c USING (id) ORDER BY r.id`
	for format, begins := range map[string]string{
		"csv": "id,sum,day,name\n1,5.25,2024-01-31,Ada\n", "ndjson": `{"id":1,"sum":5.25,`, "json": `[{"id":1,"sum":5.25,`,
		"parquet": "PAR1", "arrow": "\xff\xff\xff\xff", "xlsx": "PK\x03\x04",
	} {
		id := p.export(t, sql, format, begins)
		if format == "arrow" {
			p.call("GET", "/api/artifacts/"+id+"/rows", "", http.StatusBadRequest, nil)
			continue
		}
		p.checkStored(t, id, sql, after.Datasets[0].Version)
	}
	p.call("POST", "/api/export", `{"dataset_id":"shop","sql":"COPY refunds TO '/tmp/x'","format":"csv"}`, http.StatusForbidden, nil)
	p.call("DELETE", "/api/datasets/shop/files/refunds.csv", "", http.StatusOK, nil)
	p.call("GET", "/datasets", "", http.StatusOK, &after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

// TestRepeat takes the rows of a turn whole: from the data that the turn read while they
// are kept, else from today's if that is wanted.
func TestRepeat(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	w.write("data/shop/stock.csv", "id,units\n"+strings.Repeat("7,1\n", 300))
	p := w.serve()
	ask := func(sql string) (run string) {
		var turn struct {
			Run    string `json:"run_id"`
			Result struct {
				Rows int `json:"row_count"`
			}
		}
		p.call("POST", "/chat", toJSON(map[string]string{"message": "SQL: " + sql, "dataset_id": "shop"}), http.StatusOK, &turn)
		if turn.Result.Rows != 200 {
			t.Fatalf("the turn shows %+v", turn)
		}
		return turn.Run
	}
	run := ask("SELECT id, units FROM stock")
	var kept struct {
		Artifact string `json:"artifact_id"`
		Version  int
		Lineage  struct {
			Call, At string
			Run      string `json:"run_id"`
			Version  string `json:"dataset_version_hash"`
			Recorded string `json:"recorded_version_hash"`
			Rows     int    `json:"row_count"`
			Columns  map[string][]string
		}
	}
	repeat := func(body string, status int) {
		t.Helper()
		p.call("POST", "/api/runs/"+run+"/results/1", body, status, &kept)
	}
	repeat(`{"format":"parquet"}`, http.StatusOK)
	l := kept.Lineage
	if diff := cmp.Diff(map[string][]string{"stock": {"id", "units"}}, l.Columns); diff != "" || l.Rows != 300 || l.Run != run || l.Call == "" || l.At == "" || l.Recorded != "" {
		t.Errorf("lineage %+v %s", l, diff)
	}
	first := kept.Artifact
	repeat(`{"format":"parquet"}`, http.StatusOK)
	if kept.Artifact != first || kept.Version != 1 {
		t.Errorf("the same again is %s@%d, not %s", kept.Artifact, kept.Version, first)
	}
	w.write("data/shop/stock.csv", "id,units\n8,2\n9,1\n")
	stored := func() int {
		paths, err := filepath.Glob(w.path("state/artifacts/meta/*/*/*/*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return len(paths)
	}
	before := stored()
	for i, flags := range [][]string{{"--format", "csv"}, {"--format", "csv", "--keep"}} {
		if out, errs, code := w.run(append([]string{"run", "export", run}, flags...)...); code != 0 || strings.Count(out, "\n") != 301 {
			t.Errorf("while the version is kept: %d, %d lines\n%s", code, strings.Count(out, "\n"), errs)
		}
		if stored() != before+i {
			t.Errorf("%v left %d artifacts, want %d", flags, stored()-before, i)
		}
	}
	var today struct{ Rows [][]any }
	p.call("GET", "/api/sources/stock", "", http.StatusOK, &today) // the new version is imported
	old, err := filepath.Glob(w.path("state/datasets/shop-" + l.Version[:12] + "*"))
	if err != nil || len(old) < 3 { // the database, what is known of it, and its lock
		t.Fatalf("%v %v", old, err)
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	p.call("POST", "/api/runs/"+run+"/results/1", `{"format":"csv"}`, http.StatusConflict, nil)
	if _, errs, code := w.run("run", "export", run, "--format", "json"); code != exitFailed || !strings.Contains(errs, "no longer kept") || !strings.Contains(errs, "today's data") {
		t.Errorf("after it is gone: %d %s", code, errs)
	}
	if out, errs, code := w.run("run", "export", run, "--today", "--out", w.path("rows.json")); code != 0 || !strings.Contains(out, "wrote 2 rows") {
		t.Errorf("from today's data: %d %s %s", code, out, errs)
	}
	repeat(`{"format":"csv","today":true}`, http.StatusOK)
	if got := kept.Lineage; got.Recorded != l.Version || got.Version == l.Version || got.Rows != 2 {
		t.Errorf("lineage of today %+v", got)
	}
	var page struct{ Rows [][]any }
	p.call("GET", fmt.Sprintf("/api/artifacts/%s@%d/rows?sort=units", kept.Artifact, kept.Version), "", http.StatusOK, &page)
	if diff := cmp.Diff([][]any{{9.0, 1.0}, {8.0, 2.0}}, page.Rows); diff != "" {
		t.Error(diff)
	}
	var found struct {
		Total int `json:"total_rows"`
		Rows  [][]any
	}
	p.call("GET", "/api/artifacts/"+kept.Artifact+"/rows?find=9", "", http.StatusOK, &found)
	if diff := cmp.Diff([][]any{{9.0, 1.0}}, found.Rows); diff != "" || found.Total != 1 {
		t.Errorf("%d %s", found.Total, diff)
	}
	p.call("GET", "/api/artifacts/"+kept.Artifact+"/rows?find='+OR+1=1+--", "", http.StatusOK, &found)
	if found.Total != 0 {
		t.Errorf("a text became SQL: %+v", found)
	}
	p.call("GET", "/api/artifacts/"+kept.Artifact+"/rows?sort=nope", "", http.StatusBadRequest, nil)
}

// TestRepeatOfPipeline takes a result whole that a machine's own step made, under a cap.
func TestRepeatOfPipeline(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	w.write("data/shop/stock.csv", "id,units\n"+strings.Repeat("7,1\n", 300))
	p := w.serve()
	var turn struct {
		Run string `json:"run_id"`
	}
	p.call("POST", "/chat", `{"message":"List all stock","dataset_id":"shop","machine":"pipeline"}`, http.StatusOK, &turn)
	out, errs, code := w.run("run", "export", turn.Run, "--format", "csv")
	if code != 0 || strings.Count(out, "\n") != 301 {
		show, _, _ := w.run("run", "show", turn.Run)
		t.Errorf("%d, %d lines\n%s%s", code, strings.Count(out, "\n"), errs, show)
	}
}

// TestRepeatOverFrames repeats a statement that read an earlier result. A table of the
// result's name that comes later is never read in its place.
func TestRepeatOverFrames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	w.write("data/shop/stock.csv", "id,units\n"+strings.Repeat("7,1\n", 300))
	p := w.serve()
	type turn struct {
		Run    string `json:"run_id"`
		Thread string `json:"thread_id"`
	}
	type ran struct {
		Version string
		Frames  []event.Frame
	}
	say := func(sql, thread string) (said turn, call ran, frame string) {
		t.Helper()
		p.call("POST", "/chat", toJSON(map[string]string{"message": "SQL: " + sql, "dataset_id": "shop", "machine": "workbench", "thread_id": thread}), http.StatusOK, &said)
		var c struct {
			Version string `json:"dataset_version_hash"`
			Tools   []struct {
				Ran    *ran
				Result struct{ Name string }
			} `json:"tool_calls"`
		}
		p.call("GET", "/runs/"+said.Run, "", http.StatusOK, &c)
		for _, tool := range c.Tools {
			if tool.Ran != nil {
				if c.Version != tool.Ran.Version {
					t.Errorf("the run read version %s, its statement %s", c.Version, tool.Ran.Version)
				}
				return said, *tool.Ran, tool.Result.Name
			}
		}
		t.Fatalf("no statement ran: %+v", c)
		return said, call, frame
	}
	first, _, frame := say("SELECT id, sum(units) AS n FROM stock GROUP BY id", "")
	second, call, _ := say("SELECT n FROM "+frame, first.Thread)
	if len(call.Frames) != 1 || call.Frames[0].Name != frame || call.Frames[0].ResultID == "" {
		t.Fatalf("the statement over %s ran over %+v", frame, call.Frames)
	}
	export := func(flags ...string) (string, string, int) {
		return w.run(append([]string{"run", "export", second.Run, "--format", "csv"}, flags...)...)
	}
	if out, errs, code := export(); code != 0 || out != "n\n300\n" {
		t.Errorf("repeated: %d %q %s", code, out, errs)
	}
	w.write("data/shop/"+frame+".csv", "n\n-1\n")
	if out, errs, code := export(); code != 0 || out != "n\n300\n" {
		t.Errorf("beside a table of the result's name, on the data of the run: %d %q %s", code, out, errs)
	}
	if _, today, _ := say("SELECT n FROM "+frame, first.Thread); len(today.Frames) != 0 || today.Version == call.Version {
		t.Errorf("a statement that reads the dataset's own table names a result: %+v", today)
	}
	old, err := filepath.Glob(w.path("state/datasets/shop-" + call.Version[:12] + "*"))
	if err != nil || len(old) < 3 {
		t.Fatalf("%v %v", old, err)
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if out, errs, code := export("--today"); code != exitFailed || !strings.Contains(errs, "earlier result") {
		t.Errorf("on today's data, where a table took the name: %d %q %s", code, out, errs)
	}
}

// upload sends one file as a form and wants that status.
func (p *process) upload(t *testing.T, dataset, name, content string, status int) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	res, err := p.request("POST", "/api/datasets/"+dataset+"/files", body.String(), "Content-Type", form.FormDataContentType())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode != status {
		t.Errorf("%s gave %s, want %d: %s", name, res.Status, status, answer)
	}
}

// export downloads the rows of a statement and gives the id they are stored under.
func (p *process) export(t *testing.T, sql, format, begins string) string {
	t.Helper()
	res, err := p.request("POST", "/api/export", toJSON(map[string]string{"dataset_id": "shop", "sql": sql, "format": format}))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), begins) {
		t.Fatalf("%s: %v %s: %.200q", format, err, res.Status, body)
	}
	if got := res.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") || !strings.Contains(got, "shop-customers-refunds."+format) {
		t.Errorf("%s: %s", format, got)
	}
	return res.Header.Get("X-Artifact-Id")
}

// checkStored holds a stored result against what it was made of, and reads its middle.
func (p *process) checkStored(t *testing.T, id, sql, version string) {
	t.Helper()
	var meta struct {
		Lineage struct {
			Dataset string `json:"dataset_id"`
			Version string `json:"dataset_version_hash"`
			SQL     string
			Tables  []string
			Rows    int `json:"row_count"`
		}
	}
	p.call("GET", "/api/artifacts/"+id+"/meta", "", http.StatusOK, &meta)
	l := meta.Lineage
	if l.Dataset != "shop" || l.Version != version || l.SQL != sql || l.Rows != 3 || len(l.Tables) != 2 {
		t.Errorf("%s: lineage %+v", id, l)
	}
	var page struct {
		Total   int `json:"total_rows"`
		Columns []struct{ Name string }
		Rows    [][]any
	}
	p.call("GET", "/api/artifacts/"+id+"/rows?offset=1&limit=1", "", http.StatusOK, &page)
	if diff := cmp.Diff([][]any{{2.0, 7.0, "2024-02-29", "Ben"}}, page.Rows); diff != "" || page.Total != 3 || len(page.Columns) != 4 {
		t.Errorf("%s: %+v %s", id, page, diff)
	}
}
