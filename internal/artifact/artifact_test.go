package artifact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"interlock/internal/artifact"
	"interlock/internal/event"
	"interlock/internal/fault"
)

func open(t *testing.T, dir string) *artifact.Store {
	t.Helper()
	s, err := artifact.New(artifact.Config{Dir: dir, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *artifact.Store, p artifact.Put, content string) event.ArtifactMade {
	t.Helper()
	made, err := s.Put(t.Context(), p, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func read(t *testing.T, s *artifact.Store, owner, id string) (string, artifact.Meta) {
	t.Helper()
	f, meta, err := s.Open(t.Context(), owner, id)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), meta
}

var csv = artifact.Put{Name: "sales.csv", Type: "csv", Producer: "sql", LogicalKey: "q1", Call: "c1", Thread: "t", Owner: "ann"}

func TestPutAndOpen(t *testing.T) {
	dir := t.TempDir()
	made := put(t, open(t, dir), csv, "a,b\n1,2\n")
	if made.Name != "sales.csv" || made.MIME != "text/csv; charset=utf-8" || made.Bytes != 8 || made.Version != 1 || made.Reused || made.Call != "c1" {
		t.Errorf("made %+v", made)
	}
	s := open(t, dir) // as after a restart
	content, meta := read(t, s, "ann", made.ID)
	if content != "a,b\n1,2\n" || meta.ArtifactMade != made || meta.Thread != "t" || meta.Owner != "ann" {
		t.Errorf("content %q, meta %+v", content, meta)
	}
	f, _, err := s.Open(t.Context(), "ann", made.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(4, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(f); err != nil || string(rest) != "1,2\n" {
		t.Errorf("from 4: %q, %v", rest, err)
	}
}

func TestEqualAndNewVersions(t *testing.T) {
	s := open(t, t.TempDir())
	first := put(t, s, csv, "one")
	again := put(t, s, csv, "one")
	if !again.Reused || again.ID != first.ID || again.Version != 1 {
		t.Errorf("the same again: %+v", again)
	}
	other := csv
	other.LogicalKey, other.Name = "q2", "other.csv"
	if got := put(t, s, other, "one"); !got.Reused || got.ID != first.ID {
		t.Errorf("the same content under another key: %+v", got)
	}
	second := put(t, s, csv, "two")
	if second.Reused || second.ID != first.ID || second.Version != 2 {
		t.Errorf("another content under the key: %+v", second)
	}
	if got := put(t, s, csv, "one"); !got.Reused || got.Version != 1 {
		t.Errorf("the first content once more: %+v", got)
	}
	keyless := csv
	keyless.LogicalKey = ""
	third := put(t, s, keyless, "three")
	if got := put(t, s, keyless, "four"); got.ID == third.ID || got.Version != 1 {
		t.Errorf("without a key each content is its own thing: %+v", got)
	}
	text := csv
	text.Type = "txt"
	if got := put(t, s, text, "one"); got.Reused || got.ID == first.ID {
		t.Errorf("another type is another artifact: %+v", got)
	}
	for id, want := range map[string]string{first.ID: "two", first.ID + "@2": "two", first.ID + "@1": "one", third.ID: "three"} {
		if got, _ := read(t, s, "ann", id); got != want {
			t.Errorf("%s holds %q, want %q", id, got, want)
		}
	}
}

// A fork knows the artifacts of its parent, as they were: an equal content is theirs.
func TestForkSharesArtifacts(t *testing.T) {
	s := open(t, t.TempDir())
	first := put(t, s, csv, "one")
	later := put(t, s, csv, "two") // the parent goes on after the fork
	fork := csv
	fork.Thread, fork.Known = "fork", []event.ArtifactMade{first}
	if got := put(t, s, fork, "one"); got.ID != first.ID || got.Version != 1 || !got.Reused || got.Reason != fault.DuplicateArtifact {
		t.Errorf("a content of the parent: %+v", got)
	}
	if got := put(t, s, fork, "two"); got.Reused || got.ID == later.ID {
		t.Errorf("a content that the parent got after the fork: %+v", got)
	}
	stranger := fork
	stranger.Owner = "bob"
	if got := put(t, s, stranger, "one"); got.Reused {
		t.Errorf("bob is given ann's artifact: %+v", got)
	}
}

func TestOwnersAndThreadsAreApart(t *testing.T) {
	s := open(t, t.TempDir())
	bobs := csv
	bobs.Owner = "bob"
	a, b := put(t, s, csv, "secret"), put(t, s, bobs, "secret")
	if b.Reused || a.ID == b.ID {
		t.Errorf("bob is told of ann's artifact: %+v", b)
	}
	for owner, id := range map[string]string{"bob": a.ID, "ann": b.ID, "": a.ID, "../" + "ann": a.ID} {
		if _, _, err := s.Open(t.Context(), owner, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q opens %s: %v", owner, id, err)
		}
	}
	elsewhere := csv
	elsewhere.Thread = "u"
	if got := put(t, s, elsewhere, "secret"); got.Reused {
		t.Errorf("reused from another thread: %+v", got)
	}
	for _, tt := range []struct {
		owner, thread string
		want          int
	}{{"ann", "t", 1}, {"ann", "u", 1}, {"ann", "", 2}, {"bob", "t", 1}, {"bob", "u", 0}, {"eve", "", 0}, {"ann", "*", 0}} {
		got, err := s.List(t.Context(), tt.owner, tt.thread)
		if err != nil || len(got) != tt.want {
			t.Errorf("%s, %s: %d artifacts, want %d (%v)", tt.owner, tt.thread, len(got), tt.want, err)
		}
		for _, m := range got {
			if m.Owner != tt.owner {
				t.Errorf("%s is shown %+v", tt.owner, m)
			}
		}
	}
}

func TestBadIDs(t *testing.T) {
	s := open(t, t.TempDir())
	id := put(t, s, csv, "x").ID
	for _, bad := range []string{
		"", "art_", "x", id[:len(id)-1], id + "0", id + "@", id + "@0", id + "@-1", id + "@01", id + "@9", id + "@1@1", strings.ToUpper(id),
		"../../../etc/passwd", "art_../../../../etc/passwd", "art_" + strings.Repeat("*", 40), id + "/..", id + "\x00", strings.Repeat("a", 1<<16),
	} {
		if _, _, err := s.Open(t.Context(), "ann", bad); !fault.Is(err, fault.NotFound) {
			t.Errorf("%.60q: %v", bad, err)
		}
	}
}

// Many put the same thing at once, through two stores as two processes would.
func TestPutAtOnce(t *testing.T) {
	dir := t.TempDir()
	stores := []*artifact.Store{open(t, dir), open(t, dir)}
	const n = 16
	var mu sync.Mutex
	fresh, versions := 0, map[int]int{}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			same, err := stores[i%2].Put(t.Context(), csv, strings.NewReader("same"))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if !same.Reused {
				fresh++
			}
		})
		wg.Go(func() {
			p := csv
			p.LogicalKey = "many"
			made, err := stores[i%2].Put(t.Context(), p, strings.NewReader(fmt.Sprint("content ", i)))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			versions[made.Version]++
		})
	}
	wg.Wait()
	if fresh != 1 {
		t.Errorf("%d of %d puts of one content were new, want 1", fresh, n)
	}
	for v := 1; v <= n; v++ {
		if versions[v] != 1 {
			t.Errorf("version %d was given %d times", v, versions[v])
		}
	}
	if left := leftovers(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "tmp", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestLimitsAndFailures(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := s.Put(t.Context(), csv, bytes.NewReader(make([]byte, 1<<20))); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
	if _, err := s.Put(t.Context(), csv, bytes.NewReader(make([]byte, 1<<20+1))); !fault.Is(err, fault.TooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	broken := errors.New("the tool broke")
	if _, err := s.Put(t.Context(), csv, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a broken producer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, csv, strings.NewReader("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, typ := range []string{"", "../x", "a b", "csv\n", strings.Repeat("x", 11)} {
		p := csv
		p.Type = typ
		if _, err := s.Put(t.Context(), p, strings.NewReader("x")); !fault.Is(err, fault.InvalidArguments) {
			t.Errorf("type %q: %v", typ, err)
		}
	}
	if left := leftovers(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if got, err := s.List(t.Context(), "ann", "t"); err != nil || len(got) != 1 {
		t.Errorf("%d artifacts, want 1 (%v)", len(got), err)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	old, young := filepath.Join(dir, "tmp", "put-old"), filepath.Join(dir, "tmp", "put-young")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if left := leftovers(t, dir); len(left) != 1 || left[0] != young {
		t.Errorf("left: %v, want only the young one", left)
	}
}

// A content without a document, as a crash between the two leaves it, is adopted.
func TestOrphanIsAdopted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	made := put(t, s, csv, "content")
	if err := os.RemoveAll(filepath.Join(dir, "meta")); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if _, _, err := s.Open(t.Context(), "ann", made.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("without a document: %v", err)
	}
	again := put(t, s, csv, "content")
	if content, _ := read(t, s, "ann", again.ID); again.Reused || content != "content" {
		t.Errorf("%+v holds %q", again, content)
	}
}

func TestNames(t *testing.T) {
	s := open(t, t.TempDir())
	tests := map[string]string{
		"sales.csv":                "sales.csv",
		"Sales.CSV":                "Sales.csv",
		"sales":                    "sales.csv",
		"sales.exe":                "sales.exe.csv",
		"../../etc/passwd":         "passwd.csv",
		`C:\Windows\evil.csv`:      "evil.csv",
		"EUR/USD by month":         "EUR-USD by month.csv",
		"Umsatz und/oder Absatz":   "Umsatz und-oder Absatz.csv",
		"km/h":                     "km-h.csv",
		"./out/sales.csv":          "sales.csv",
		"/tmp/a/sales.csv":         "sales.csv",
		"..":                       "artifact.csv",
		"a/../b":                   "a-..-b.csv",
		"":                         "artifact.csv",
		"...":                      "artifact.csv",
		".csv":                     "artifact.csv",
		"/":                        "artifact.csv",
		"con":                      "_con.csv",
		"NUL.csv":                  "_NUL.csv",
		"aux.tar.csv":              "_aux.tar.csv",
		"a\x00b\r\nc":              "abc.csv",
		"in\u202etxt.csv":          "intxt.csv",
		`what? "quoted" <b>|*:.`:   "what_ _quoted_ _b____.csv",
		"tab\there":                "tabhere.csv",
		"Umsätze 2026 \u00a0Q1":    "Umsätze 2026  Q1.csv",
		strings.Repeat("ä", 500):   strings.Repeat("ä", 60) + ".csv",
		"\xff\xfe":                 "_.csv",
		strings.Repeat(" ", 500):   "artifact.csv",
		"trailing.  ":              "trailing.csv",
		strings.Repeat("x.", 1000): strings.TrimRight(strings.Repeat("x.", 60), ".") + ".csv",
	}
	i := 0
	for name, want := range tests {
		i++
		p := csv
		p.Name, p.LogicalKey = name, fmt.Sprint(i)
		if got := put(t, s, p, fmt.Sprint(i)); got.Name != want {
			t.Errorf("%.40q became %q, want %q", name, got.Name, want)
		}
	}
}

var unsafe = regexp.MustCompile(`[/\\<>:"|?*\x00-\x1f\x7f]|^[ .]|[ .]\.csv$`)

func TestAnyNameIsSafe(t *testing.T) {
	s := open(t, t.TempDir())
	i := 0
	rapid.Check(t, func(rt *rapid.T) {
		i++
		p := csv
		p.Name, p.LogicalKey, p.Thread = rapid.String().Draw(rt, "name"), "k", fmt.Sprint(i)
		made, err := s.Put(t.Context(), p, strings.NewReader("x"))
		if err != nil {
			rt.Fatal(err)
		}
		if n := made.Name; unsafe.MatchString(n) || !utf8.ValidString(n) || len(n) > 125 || !strings.HasSuffix(n, ".csv") || n == ".csv" {
			rt.Errorf("%q became %q", p.Name, n)
		}
	})
}
