package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	deployment "interlock/internal/data"
	"interlock/internal/document/documenttest"
	"interlock/internal/embed"
	"interlock/internal/retrieve"
	"interlock/internal/server"
)

// A documentDesk is a server of three users with real documents behind it; passages are compared by words.
type documentDesk struct {
	*rig
	index *retrieve.Index
	dir   string
}

var documentUsers = map[string]string{"ann": "token-of-ann-0001", "bob": "token-of-bob-0001", "root": "token-of-root-001"}

func as(user string) string { return "Authorization: Bearer " + documentUsers[user] }

func startDocuments(t *testing.T) documentDesk {
	t.Helper()
	dir := t.TempDir()
	index, err := retrieve.Open(retrieve.Config{Path: filepath.Join(dir, "documents.db"), Encoder: embed.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = index.Close() })
	kept := deployment.NewDocuments(deployment.DocumentsConfig{Index: index, Dir: filepath.Join(dir, "kept"), MaxBytes: 1 << 20})
	t.Cleanup(func() { _ = kept.Close() })
	r := start(t, func(cfg *server.Config) {
		cfg.Documents = kept
		for name, token := range documentUsers {
			role := server.Analyst
			if name == "root" {
				role = server.Admin
			}
			cfg.Users = append(cfg.Users, server.User{Name: name, Role: role, Token: token})
		}
	})
	return documentDesk{r, index, filepath.Join(dir, "kept")}
}

func (d documentDesk) files(t *testing.T, user string) []string {
	t.Helper()
	list := get[struct{ Documents []retrieve.Document }](t, d.rig, "GET", "/api/documents", "", as(user))
	var names []string
	for _, x := range list.Documents {
		names = append(names, x.File)
	}
	slices.Sort(names)
	return names
}

// TestDocumentsOverHTTP adds, finds, opens and deletes documents as their owner, as another and as the operator.
func TestDocumentsOverHTTP(t *testing.T) {
	t.Parallel()
	d := startDocuments(t)
	body, of := form(t, "policy.md", "# Policy\n\n## Returns\n\nGoods may be returned within thirty days.\n\n## Parking\n\nVisitors park behind the house.")
	report := get[retrieve.AddReport](t, d.rig, "POST", "/api/documents?collection=house", body, of, as("ann"))
	if report.Added != 1 || len(report.Problems) > 0 {
		t.Fatalf("report %+v", report)
	}
	found := get[struct{ Chunks []retrieve.Chunk }](t, d.rig, "GET", "/api/documents/search?query=returned+goods", "", as("ann"))
	if len(found.Chunks) == 0 || found.Chunks[0].Place != "Returns" || found.Chunks[0].Relevancy == 0 {
		t.Fatalf("found %+v", found)
	}
	at := "/api/documents/" + found.Chunks[0].Document
	excerpt := get[retrieve.Excerpt](t, d.rig, "GET", at+"?place="+url.QueryEscape(found.Chunks[0].Place), "", as("ann"))
	if excerpt.Content != "Goods may be returned within thirty days." || excerpt.Document.File != "policy.md" || !slices.Equal(excerpt.Places, []string{"Returns", "Parking"}) {
		t.Errorf("opened %+v", excerpt)
	}
	shared, ofShared := form(t, "all.txt", "The kitchen closes at eight.")
	get[retrieve.AddReport](t, d.rig, "POST", "/api/documents?collection=everybody", shared, ofShared, as("root"))

	for name, c := range map[string]struct {
		method, url, user string
		status            int
		code              string
	}{
		"another's document":        {"GET", at, "bob", 404, "not_found"},
		"another deletes it":        {"DELETE", at, "bob", 404, "not_found"},
		"no such place":             {"GET", at + "?place=Refunds", "ann", 404, "not_found"},
		"no such document":          {"GET", "/api/documents/feedfeedfeedfeed", "ann", 404, "not_found"},
		"an empty question":         {"GET", "/api/documents/search?query=+", "ann", 400, "bad_request"},
		"a thread of nobody":        {"GET", "/api/documents?thread=t_none", "ann", 404, "thread_not_found"},
		"nobody asks":               {"GET", "/api/documents", "", 401, "unauthorized"},
		"no form":                   {"POST", "/api/documents?collection=house", "ann", 400, "bad_request"},
		"a collection that is none": {"POST", "/api/documents?collection=..%2F..", "ann", 400, "bad_request"},
	} {
		sent, header := "", "X-None: 1"
		if c.method == "POST" && name != "no form" {
			sent, header = form(t, "x.txt", "x")
		}
		res, text := d.do(t, c.method, c.url, sent, header, as(c.user))
		if res.StatusCode != c.status || !strings.Contains(text, `"code":"`+c.code+`"`) || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: %d %s", name, res.StatusCode, text)
		}
	}
	if ann, bob := d.files(t, "ann"), d.files(t, "bob"); !slices.Equal(ann, []string{"all.txt", "policy.md"}) || !slices.Equal(bob, []string{"all.txt"}) {
		t.Errorf("ann sees %q, bob %q", ann, bob)
	}
	if found := get[struct{ Chunks []retrieve.Chunk }](t, d.rig, "GET", "/api/documents/search?query=returned+goods", "", as("bob")); len(found.Chunks) > 0 && found.Chunks[0].SourceFile == "policy.md" {
		t.Errorf("bob finds %+v", found)
	}
	get[map[string]any](t, d.rig, "DELETE", at, "", as("ann"))
	if ann := d.files(t, "ann"); !slices.Equal(ann, []string{"all.txt"}) {
		t.Errorf("after the deletion ann sees %q", ann)
	}
	if left, err := filepath.Glob(filepath.Join(d.dir, "*", "*", "policy.md")); err != nil || len(left) > 0 {
		t.Errorf("the deleted document is still there: %q, %v", left, err)
	}
}

// TestDocumentNamesStayInTheirFolder: whatever a form calls a file, nothing is written
// outside the folder of its user, over a link neither, and nothing but the file is read.
func TestDocumentNamesStayInTheirFolder(t *testing.T) {
	t.Parallel()
	d := startDocuments(t)
	outside := filepath.Join(filepath.Dir(d.dir), "secret.md")
	if err := os.WriteFile(outside, []byte("# Secret\n\nThe vault opens at noon."), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"../secret.md", "../../secret.md", "../../../secret.md", outside, "/proc/self/environ", "..", ".", "/", "a/../../secret.md", `..\\..\\secret.md`,
		"~/secret.md", "..%2f..%2fsecret.md", "%2e%2e/secret.md", "secret.md%00.txt", ".hidden.md", "/dev/zero", "nul\x01.md", strings.Repeat("x", 5000) + ".md",
	} {
		body, of := form(t, name, "# Mine\n\nOverwritten.")
		if res, text := d.do(t, "POST", "/api/documents?collection=c&replace=true", body, of, as("ann")); res.StatusCode >= 500 {
			t.Errorf("%q: %d %s", name, res.StatusCode, text)
		}
	}
	folders, err := filepath.Glob(filepath.Join(d.dir, "*", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("the folders are %q, %v", folders, err)
	}
	if err := os.Symlink(outside, filepath.Join(folders[0], "link.md")); err != nil {
		t.Fatal(err)
	}
	body, of := form(t, "link.md", "# Mine\n\nOverwritten.", "good.md", "# Good\n\nPumps are red.")
	d.do(t, "POST", "/api/documents?collection=c&replace=true", body, of, as("ann"))
	if text, err := os.ReadFile(outside); err != nil || !strings.Contains(string(text), "vault") {
		t.Errorf("the file outside is %q, %v", text, err)
	}
	found := get[struct{ Chunks []retrieve.Chunk }](t, d.rig, "GET", "/api/documents/search?query=When+does+the+vault+open", "", as("ann"))
	for _, c := range found.Chunks {
		if strings.Contains(c.Content, "vault") || strings.Contains(c.Content, "PATH=") {
			t.Errorf("what lies outside is found: %+v", c)
		}
	}
	for _, file := range d.files(t, "ann") {
		if strings.ContainsAny(file, `/\`) || strings.HasPrefix(file, ".") {
			t.Errorf("a document is called %q", file)
		}
	}
}

// TestDocumentsThatCannotBeRead says plainly what is wrong with each.
func TestDocumentsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := startDocuments(t)
	body, of := form(t, "scan.pdf", string(documenttest.PDF("", "")), "locked.pdf", string(documenttest.EncryptedPDF("x")), "broken.docx", "PK broken", "good.md", "# Good\n\nfine")
	res, text := d.do(t, "POST", "/api/documents?collection=c", body, of, as("ann"), "Accept: text/event-stream")
	if res.StatusCode != http.StatusOK || !strings.Contains(text, "event: progress\ndata: {\"stage\":\"reading\",\"done\":0,\"total\":4,") || !strings.Contains(text, `"stage":"embedding"`) {
		t.Fatalf("%d %s", res.StatusCode, text)
	}
	_, last, _ := strings.Cut(text, "event: done\ndata: ")
	var report retrieve.AddReport
	if err := json.Unmarshal([]byte(last), &report); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	codes := map[string]string{}
	for _, p := range report.Problems {
		codes[p.File] = string(p.Code)
		if p.Message == "" || strings.Contains(p.Message, d.dir) {
			t.Errorf("message %q", p.Message)
		}
	}
	for file, want := range map[string]string{"scan.pdf": "document_no_text", "locked.pdf": "document_encrypted", "broken.docx": "document_unreadable", "good.md": ""} {
		if codes[file] != want {
			t.Errorf("%s: %q, want %q", file, codes[file], want)
		}
	}
	list := get[struct{ Documents []retrieve.Document }](t, d.rig, "GET", "/api/documents", "", as("ann"))
	for _, x := range list.Documents {
		if x.File != "locked.pdf" {
			continue
		}
		if res, text := d.do(t, "GET", "/api/documents/"+x.ID, "", as("ann")); res.StatusCode != 422 || !strings.Contains(text, "document_encrypted") {
			t.Errorf("opening it: %d %s", res.StatusCode, text)
		}
	}
	huge, ofHuge := form(t, "huge.txt", strings.Repeat("long ", 300_000))
	again, ofAgain := form(t, "good.md", "# Good\n\nbetter")
	odd, ofOdd := form(t, "tool.exe", "MZ")
	for name, c := range map[string]struct {
		url, body, of string
		status        int
		code          string
	}{
		"huge":         {"/api/documents?collection=c", huge, ofHuge, 413, "too_large"},
		"a taken name": {"/api/documents?collection=c", again, ofAgain, 409, "conflict"},
		"a program":    {"/api/documents?collection=c", odd, ofOdd, 422, "document_unreadable"},
	} {
		if res, text := d.do(t, "POST", c.url, c.body, c.of, as("ann")); res.StatusCode != c.status || !strings.Contains(text, `"code":"`+c.code+`"`) {
			t.Errorf("%s: %d %s", name, res.StatusCode, text)
		}
	}
	changed := get[retrieve.AddReport](t, d.rig, "POST", "/api/documents?collection=c&replace=true", again, ofAgain, as("ann"))
	if changed.Changed != 1 || changed.Unchanged != 3 {
		t.Errorf("replaced: %+v", changed)
	}
	if parts, err := filepath.Glob(filepath.Join(d.dir, "*", "*", ".upload-*")); err != nil || len(parts) > 0 {
		t.Errorf("parts of uploads are left: %q, %v", parts, err)
	}
	if _, err := os.Stat(d.dir); err != nil {
		t.Error(err)
	}
}
