package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"interlock/internal/fault"
	"interlock/internal/toolbox"
)

// artifactBytes is the content of an artifact of ann.
func (w *workshop) artifactBytes(t *testing.T, id string) []byte {
	t.Helper()
	f, _, err := w.s.artifacts.Open(t.Context(), "ann", id)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// fetch keeps the rows of a statement and gives its frame.
func (w *workshop) fetch(t *testing.T, name, sql string) []toolbox.Frame {
	t.Helper()
	var out toolbox.RunSQLOut
	if err := w.call(t.Context(), t, "run_sql", map[string]any{"dataset_id": "shop", "name": name, "max_rows": 100, "sql": sql}, &out); err != nil {
		t.Fatal(err)
	}
	return []toolbox.Frame{{Name: out.Name, ResultID: out.ResultID}}
}

// A chart is a document that names its rows and a picture. Drawn again it is the same
// one, of other rows its next version.
func TestMakeChart(t *testing.T) {
	w := newWorkshop(t, nil)
	frames := w.fetch(t, "by_status", "SELECT status, sum(amount) AS total FROM orders GROUP BY 1 ORDER BY 1")
	var first, again, other toolbox.MakeChartOut
	args := map[string]any{"from": "By Status", "unit": "€", "frames": frames}
	if err := w.call(t.Context(), t, "make_chart", args, &first); err != nil {
		t.Fatal(err)
	}
	if first.Kind != "bar" || first.From != "by_status" || first.Name != "total_by_status" || !strings.Contains(first.Note, "Bar chart of by_status: total by status.") {
		t.Errorf("%+v", first)
	}
	var doc struct {
		Data     struct{ URL string }
		Encoding struct{ X, Y struct{ Field string } }
	}
	if err := json.Unmarshal(w.artifactBytes(t, first.Artifact), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Data.URL != "/api/artifacts/"+frames[0].ResultID || doc.Encoding.X.Field != "status" || doc.Encoding.Y.Field != "total" {
		t.Errorf("%+v", doc)
	}
	if svg := w.artifactBytes(t, first.Picture); !bytes.HasPrefix(svg, []byte("<svg ")) || !bytes.Contains(svg, []byte("paid")) {
		t.Errorf("the picture is %.200s", svg)
	}
	if err := w.call(t.Context(), t, "make_chart", args, &again); err != nil || again.Artifact != first.Artifact || again.Picture != first.Picture || !strings.Contains(again.Note, string(fault.DuplicateArtifact)) {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	args["frames"] = w.fetch(t, "by_status", "SELECT status, 2 * sum(amount) AS total FROM orders GROUP BY 1 ORDER BY 1")
	if err := w.call(t.Context(), t, "make_chart", args, &other); err != nil {
		t.Fatal(err)
	}
	if id, ok := strings.CutSuffix(other.Artifact, "@2"); !ok || id+"@1" != first.Artifact || other.Picture != strings.TrimSuffix(first.Picture, "1")+"2" {
		t.Errorf("of other rows: %+v, want version 2 of %s", other, first.Artifact)
	}
	for _, bad := range []struct {
		args map[string]any
		code fault.Code
		says string
	}{
		{map[string]any{"from": "sales", "frames": frames}, fault.NotFound, `no result "sales"`},
		{map[string]any{"from": "by_status", "y": "profit", "frames": frames}, fault.InvalidArguments, `no column "profit"`},
		{map[string]any{"from": "by_status", "frames": []toolbox.Frame{}}, fault.NotFound, "by_status"},
	} {
		if err := w.call(t.Context(), t, "make_chart", bad.args, &other); !fault.Is(err, bad.code) || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%v: %v", bad.args, err)
		}
	}
}

// A file holds all rows of a result, in each format, and the same rows are one file.
func TestSaveArtifact(t *testing.T) {
	w := newWorkshop(t, nil)
	frames := w.fetch(t, "orders_by_id", "SELECT id, status, amount FROM orders ORDER BY id")
	for _, format := range []string{"csv", "json", "xlsx", "parquet"} {
		t.Run(format, func(t *testing.T) {
			args := map[string]any{"from": "orders_by_id", "name": "Bestellungen", "format": format, "frames": frames}
			var first, again toolbox.MadeOut
			if err := w.call(t.Context(), t, "save_artifact", args, &first); err != nil {
				t.Fatal(err)
			}
			content := w.artifactBytes(t, first.Artifact)
			switch format {
			case "csv":
				if !strings.HasPrefix(string(content), "id,status,amount") || strings.Count(strings.TrimSpace(string(content)), "\n") != 5 {
					t.Errorf("%s", content)
				}
			case "json":
				var rows []map[string]any
				if err := json.Unmarshal(content, &rows); err != nil || len(rows) != 5 || rows[0]["status"] != "paid" {
					t.Errorf("%s, %v", content, err)
				}
			case "xlsx":
				book, err := excelize.OpenReader(bytes.NewReader(content))
				if err != nil {
					t.Fatal(err)
				}
				if rows, err := book.GetRows(book.GetSheetName(0)); err != nil || len(rows) != 6 || rows[0][1] != "status" {
					t.Errorf("%v, %v", rows, err)
				}
			case "parquet":
				if !bytes.HasPrefix(content, []byte("PAR1")) {
					t.Errorf("%.20q", content)
				}
			}
			if err := w.call(t.Context(), t, "save_artifact", args, &again); err != nil || again.Artifact != first.Artifact || !strings.Contains(again.Note, string(fault.DuplicateArtifact)) {
				t.Errorf("the same again: %+v, %v", again, err)
			}
			args["frames"] = w.fetch(t, "orders_by_id", "SELECT id, status, amount FROM orders WHERE status = 'paid' ORDER BY id")
			if err := w.call(t.Context(), t, "save_artifact", args, &again); err != nil || again.Artifact != strings.TrimSuffix(first.Artifact, "1")+"2" {
				t.Errorf("other rows: %+v, %v, want version 2", again, err)
			}
		})
	}
	var out toolbox.MadeOut
	if err := w.call(t.Context(), t, "save_artifact", map[string]any{"from": "orders_by_id", "name": "x", "format": "docx", "frames": frames}, &out); !fault.Is(err, fault.InvalidArguments) {
		t.Errorf("an unknown format: %v", err)
	}
}
