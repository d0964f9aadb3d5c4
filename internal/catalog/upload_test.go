package catalog_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"interlock/internal/catalog"
	"interlock/internal/fault"
)

// An uploaded file is a table at once, under a new version; a replaced one changes
// its rows; a deleted one is gone.
func TestUpload(t *testing.T) {
	w := newWorld(t, shop)
	before, err := w.Get(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	done, err := w.Upload(t.Context(), catalog.Upload{Dataset: "shop", Name: "refunds.csv"}, strings.NewReader("id,sum\n1,5\n2,7\n"))
	if err != nil {
		t.Fatal(err)
	}
	if done.File != "refunds.csv" || done.Bytes != 15 || done.Replaced || done.Dataset.Version == before.Version {
		t.Errorf("%+v", done)
	}
	if got := w.rows(t, "shop", "SELECT count(*), sum(sum)::INTEGER FROM refunds"); got != "[[2,12]]" {
		t.Errorf("rows %s", got)
	}
	_, err = w.Upload(t.Context(), catalog.Upload{Dataset: "shop", Name: "refunds.csv"}, strings.NewReader("id,sum\n1,6\n"))
	wantCode(t, err, fault.Conflict)
	again, err := w.Upload(t.Context(), catalog.Upload{Dataset: "shop", Name: "refunds.csv", Replace: true}, strings.NewReader("id,sum\n1,6\n"))
	if err != nil || !again.Replaced || again.Dataset.Version == done.Dataset.Version {
		t.Errorf("%+v %v", again, err)
	}
	if got := w.rows(t, "shop", "SELECT sum FROM refunds"); got != "[[6]]" {
		t.Errorf("rows %s", got)
	}
	if err := w.Discard(t.Context(), "shop", "refunds.csv", ""); err != nil {
		t.Fatal(err)
	}
	after, err := w.Get(t.Context(), "shop")
	if err != nil || after.Version != before.Version {
		t.Errorf("version %s, was %s: %v", after.Version, before.Version, err)
	}
	wantCode(t, w.Discard(t.Context(), "shop", "refunds.csv", ""), fault.NotFound)
}

// An upload never takes the name of a table that another file has.
func TestUploadsKeepTables(t *testing.T) {
	w := newWorld(t, shop)
	up := func(name, content string) error {
		_, err := w.Upload(t.Context(), catalog.Upload{Dataset: "shop", Name: name, Replace: true}, strings.NewReader(content))
		return err
	}
	if err := up("sales.json", `[{"a": 1}]`); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sales.csv", "SALES.csv", "sales.csv.gz", "sales.ndjson"} {
		wantCode(t, up(name, "a\n2\n"), fault.Conflict)
	}
	if err := up("sales_2.csv", "a\n2\n"); err != nil {
		t.Error(err)
	}
	if err := up("sales.json", `[{"a": 3}]`); err != nil {
		t.Error(err)
	}
	if got := w.rows(t, "shop", "SELECT a FROM sales UNION ALL SELECT a FROM sales_2 ORDER BY a"); got != "[[2],[3]]" {
		t.Errorf("rows %s", got)
	}
}

func TestUploadMakesDatasets(t *testing.T) {
	w := newWorld(t, nil)
	up := func(u catalog.Upload) error {
		_, err := w.Upload(t.Context(), u, strings.NewReader("a\n1\n"))
		return err
	}
	wantCode(t, up(catalog.Upload{Dataset: "new", Name: "x.csv"}), fault.DatasetNotFound)
	for _, id := range []string{"new", "default"} {
		if err := up(catalog.Upload{Dataset: id, Name: "x.csv", Create: true}); err != nil {
			t.Fatal(err)
		}
		if got := w.rows(t, id, "SELECT a FROM x"); got != "[[1]]" {
			t.Errorf("%s: rows %s", id, got)
		}
	}
	for _, id := range []string{"..", "../up", "/tmp", ".hidden", "a/b", `a\b`, "", strings.Repeat("x", 200)} {
		wantCode(t, up(catalog.Upload{Dataset: id, Name: "x.csv", Create: true}), fault.BadRequest)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(w.root, "out")); err != nil {
		t.Fatal(err)
	}
	if err := up(catalog.Upload{Dataset: "out", Name: "x.csv", Create: true}); err == nil {
		t.Error("a link that leads out of the data folder took a file")
	}
}

// Whatever a name says, a file lands in its dataset's folder or nowhere.
func TestHostileUploads(t *testing.T) {
	w := newWorld(t, shop)
	secret := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(secret, []byte("a\nkeep\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(w.root, "shop", "link.csv")); err != nil {
		t.Fatal(err)
	}
	w.write(t, "listed/registry.json", `{"id": "listed", "files": [{"path": "a.csv"}]}`)
	w.write(t, "listed/a.csv", "a\n1\n")
	for name, lands := range map[string]string{
		"../../../etc/cron.csv":           "cron.csv",
		`..\..\windows\system.csv`:        "system.csv",
		"/etc/passwd.csv":                 "passwd.csv",
		"a\x00b.csv":                      "ab.csv",
		"line\nbreak\u202e.csv":           "linebreak.csv",
		"...dots.csv":                     "dots.csv",
		`what?*<>|":.csv`:                 "what_______.csv",
		"link.csv":                        "link.csv", // the link is replaced, not what it names
		"..":                              "",
		".":                               "",
		"":                                "",
		".hidden":                         "",
		"~$lock.xlsx":                     "",
		"registry.json":                   "",
		"data_dictionary.json":            "",
		"run.sh":                          "",
		"x.csv/":                          "",
		"evil.sqlite":                     "",
		"evil.db":                         "",
		strings.Repeat("x", 200) + ".csv": "",
	} {
		done, err := w.Upload(t.Context(), catalog.Upload{Dataset: "shop", Name: name, Replace: true}, strings.NewReader("a\n1\n"))
		if lands == "" {
			wantCode(t, err, fault.BadRequest)
			continue
		}
		if err != nil || done.File != lands {
			t.Errorf("%q landed as %q: %v", name, done.File, err)
			continue
		}
		if text, err := os.ReadFile(filepath.Join(w.root, "shop", lands)); err != nil || string(text) != "a\n1\n" {
			t.Errorf("%q: %q %v", name, text, err)
		}
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "a\nkeep\n" {
		t.Errorf("a file outside was changed: %q %v", text, err)
	}
	for _, file := range []string{"../loose.csv", "..", "/etc/passwd", "registry.json", "events", "nope.csv", "shop/orders.csv", ""} {
		wantCode(t, w.Discard(t.Context(), "shop", file, ""), fault.NotFound)
	}
	_, err := w.Upload(t.Context(), catalog.Upload{Dataset: "shop", Name: "events.csv"}, strings.NewReader(""))
	wantCode(t, err, fault.BadRequest)
	_, err = w.Upload(t.Context(), catalog.Upload{Dataset: "listed", Name: "b.csv"}, strings.NewReader("a\n1\n"))
	wantCode(t, err, fault.BadRequest)
}

// An upload that breaks off leaves nothing behind, and what it would have replaced.
func TestUploadBreaksOff(t *testing.T) {
	w := newWorld(t, shop)
	gone := errors.New("the client is gone")
	half := io.MultiReader(strings.NewReader("order_id\n"), iotest.ErrReader(gone))
	if _, err := w.Upload(t.Context(), catalog.Upload{Dataset: "shop", Name: "orders.csv", Replace: true}, half); !errors.Is(err, gone) {
		t.Error(err)
	}
	w.config.MaxFile = 10
	small, err := catalog.New(w.config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = small.Upload(t.Context(), catalog.Upload{Dataset: "shop", Name: "large.csv"}, strings.NewReader("a\n12345678901\n"))
	wantCode(t, err, fault.TooLarge)
	entries, err := os.ReadDir(filepath.Join(w.root, "shop"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Name() == "large.csv" {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	if got := w.rows(t, "shop", "SELECT count(*) FROM orders"); got != "[[4]]" {
		t.Errorf("rows %s", got)
	}
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("want %s, got %v", code, err)
	}
}

// Without a data folder nothing can be made, and that is said.
func TestUploadWithoutFolder(t *testing.T) {
	w := newWorld(t, nil)
	config := w.config
	config.Roots = []string{filepath.Join(t.TempDir(), "missing")}
	c, err := catalog.New(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Upload(t.Context(), catalog.Upload{Dataset: "new", Name: "x.csv", Create: true}, strings.NewReader("a\n1\n"))
	wantCode(t, err, fault.BadRequest)
	if f := fault.From(err); !strings.Contains(f.Message, "no data folder") || !strings.Contains(f.Suggestion, "--data") {
		t.Errorf("%s %s", f.Message, f.Suggestion)
	}
}

// readerFunc does something when the content of an upload is asked for.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Whoever began an upload first has no right to a name that another took meanwhile.
func TestUploadsDoNotOvertake(t *testing.T) {
	w := newWorld(t, nil)
	upload := func(user string) catalog.Upload {
		return catalog.Upload{Dataset: "shared", Name: "sales.csv", Create: true, Replace: true, User: user}
	}
	rest := strings.NewReader("id\n1\n")
	slow := readerFunc(func(p []byte) (int, error) {
		n, err := rest.Read(p)
		if errors.Is(err, io.EOF) {
			if _, err := w.Upload(t.Context(), upload("ann"), strings.NewReader("id\n7\n")); err != nil {
				t.Errorf("ann's upload: %v", err)
			}
		}
		return n, err
	})
	_, err := w.Upload(t.Context(), upload("bob"), slow)
	wantCode(t, err, fault.Forbidden)
	if got := w.rows(t, "shared", "SELECT id FROM sales"); got != "[[7]]" {
		t.Errorf("rows %s, want ann's", got)
	}
}

// What cannot be read is named right after an upload, whether other files of the
// dataset can be read or none can.
func TestUploadedGarbage(t *testing.T) {
	w := newWorld(t, shop)
	for _, u := range []catalog.Upload{{Dataset: "shop", Name: "noise.parquet"}, {Dataset: "alone", Name: "noise.xlsx", Create: true}} {
		if _, err := w.Upload(t.Context(), u, strings.NewReader("\x00\x01 this is no table \xff")); err != nil {
			t.Fatal(err)
		}
		problems, err := w.Problems(t.Context(), u.Dataset)
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) != 1 || problems[0].Path != u.Name || problems[0].Message == "" {
			t.Errorf("%s: problems %+v", u.Dataset, problems)
		}
	}
	if err := w.Discard(t.Context(), "shop", "noise.parquet", ""); err != nil {
		t.Fatal(err)
	}
	if problems, err := w.Problems(t.Context(), "shop"); err != nil || len(problems) > 0 {
		t.Errorf("%+v %v", problems, err)
	}
}
