package main

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestResults goes the whole way of data through the server: a file comes in, is
// looked at, asked, exported as everything there is, read by page, and goes out again.
func TestResults(t *testing.T) {
	w := newWorld(t)
	w.flags = append(w.flags, "--provider", "offline")
	p := w.serve()
	var before struct {
		Datasets []struct{ ID, Version_hash string }
	}
	p.call("GET", "/datasets", "", http.StatusOK, &before)
	p.upload(t, "shop", "../refunds.csv", "id,sum,day\n1,5.25,2024-01-31\n2,7,2024-02-29\n3,,\n", http.StatusOK)
	p.upload(t, "shop", "refunds.csv", "id\n1\n", http.StatusConflict)
	p.upload(t, "shop", "refunds.exe", "id\n1\n", http.StatusBadRequest)
	var after struct {
		Datasets []struct{ ID, Version_hash string }
	}
	p.call("GET", "/datasets", "", http.StatusOK, &after)
	if len(after.Datasets) != 1 || after.Datasets[0].Version_hash == before.Datasets[0].Version_hash {
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
	if profile.Rows != 3 || len(profile.Columns) != 3 || profile.Columns[1].Nulls != 1 || profile.Columns[1].Max != "7.0" || profile.Columns[2].Type != "DATE" {
		t.Errorf("profile %+v", profile)
	}
	var some struct {
		Total_rows int
		Rows       [][]any
	}
	p.call("GET", "/api/sources/refunds?offset=1&limit=1", "", http.StatusOK, &some)
	if len(some.Rows) != 1 || some.Rows[0][1] != 7.0 {
		t.Errorf("preview %+v", some)
	}
	p.call("POST", "/api/sources/refunds/load-scoped", `{"conditions":[{"column":"sum","op":"lt","value":6}]}`, http.StatusOK, &some)
	if some.Total_rows != 1 || len(some.Rows) != 1 || some.Rows[0][0] != 1.0 {
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
		p.checkStored(t, id, sql, after.Datasets[0].Version_hash)
	}
	p.call("POST", "/api/export", `{"dataset_id":"shop","sql":"COPY refunds TO '/tmp/x'","format":"csv"}`, http.StatusForbidden, nil)
	p.call("DELETE", "/api/datasets/shop/files/refunds.csv", "", http.StatusOK, nil)
	p.call("GET", "/datasets", "", http.StatusOK, &after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
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
	if got := res.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") || !strings.Contains(got, "shop."+format) {
		t.Errorf("%s: %s", format, got)
	}
	return res.Header.Get("X-Artifact-Id")
}

// checkStored holds a stored result against what it was made of, and reads its middle.
func (p *process) checkStored(t *testing.T, id, sql, version string) {
	t.Helper()
	var meta struct {
		Lineage struct {
			Dataset_id, Dataset_version_hash, SQL string
			Tables                                []string
			Row_count                             int
		}
	}
	p.call("GET", "/api/artifacts/"+id+"/meta", "", http.StatusOK, &meta)
	l := meta.Lineage
	if l.Dataset_id != "shop" || l.Dataset_version_hash != version || l.SQL != sql || l.Row_count != 3 || len(l.Tables) != 2 {
		t.Errorf("%s: lineage %+v", id, l)
	}
	var page struct {
		Total_rows int
		Columns    []struct{ Name string }
		Rows       [][]any
	}
	p.call("GET", "/api/artifacts/"+id+"/rows?offset=1&limit=1", "", http.StatusOK, &page)
	if diff := cmp.Diff([][]any{{2.0, 7.0, "2024-02-29", "Ben"}}, page.Rows); diff != "" || page.Total_rows != 3 || len(page.Columns) != 4 {
		t.Errorf("%s: %+v %s", id, page, diff)
	}
}
