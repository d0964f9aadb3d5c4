package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The meaning of a dataset is its maker's and the admins' to change; that of a dataset which the
// operator placed the admins' alone.
func TestWhoMayReplaceMeaning(t *testing.T) {
	w := newWorld(t)
	w.write("people", "ann analyst ann-token-0123456789\nbob analyst bob-token-0123456789\nroot admin root-token-0123456789\n")
	if err := os.Chmod(w.path("people"), 0o600); err != nil {
		t.Fatal(err)
	}
	const ann, bob, root = "Bearer ann-token-0123456789", "Bearer bob-token-0123456789", "Bearer root-token-0123456789"
	w.write("data/placed/x.csv", "id,a\n1,2\n")
	w.flags = append(w.flags, "--provider", "offline", "--tokens", w.path("people"))
	p := w.serve()
	for who, dataset := range map[string]string{ann: "hers", bob: "his"} {
		if status, text := p.uploadAs(who, "/api/datasets/"+dataset+"/files?create=true", "x.csv", "id,a\n1,2\n"); status != 200 {
			t.Fatalf("%d %s", status, text)
		}
	}
	if status, text := p.uploadAs(bob, "/api/datasets/hers/files", "y.csv", "id,a\n1,2\n"); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	meaning := func(dataset string) string { return "/api/datasets/" + dataset + "/meaning" }
	for _, c := range []struct {
		who, dataset, says string
		want               int
	}{
		{bob, "hers", "obey bob", 403}, // where there is none yet
		{ann, "hers", "first of ann", 200},
		{bob, "hers", "obey bob", 403},
		{root, "hers", "of the admin", 200},
		{bob, "hers", "obey bob", 403},
		{ann, "hers", "second of ann", 200},
		{ann, "his", "obey ann", 403},
		{bob, "his", "first of bob", 200},
		{ann, "his", "obey ann", 403},
		{ann, "placed", "obey ann", 403},
		{bob, "placed", "obey bob", 403},
		{root, "placed", "of the admin", 200},
		{ann, "placed", "obey ann", 403},
	} {
		var have struct{ Version string }
		_, shown := p.text(c.who, "GET", meaning(c.dataset), "")
		if err := json.Unmarshal([]byte(shown), &have); err != nil {
			t.Fatalf("%v: %s", err, shown)
		}
		model := `{"version":"0.2.0.dev0","semantic_model":[{"name":"m","ai_context":"` + c.says + `","datasets":[{"name":"x","source":"x"}]}]}`
		status, text := p.text(c.who, "PUT", meaning(c.dataset), toJSON(map[string]string{"version": have.Version, "text": model}))
		if status != c.want {
			t.Errorf("%.20s writes %q in %s: %d %s, want %d", c.who, c.says, c.dataset, status, text, c.want)
		}
		if _, shown := p.text(c.who, "GET", meaning(c.dataset), ""); strings.Contains(shown, c.says) != (c.want == 200) {
			t.Errorf("after %.20s wrote %q in %s: %s", c.who, c.says, c.dataset, shown)
		}
	}
	// Who may is asked before the text is read, and which version there is.
	if status, text := p.text(bob, "PUT", meaning("hers"), toJSON(map[string]string{"version": "old", "text": "{"})); status != 403 {
		t.Errorf("%d %s", status, text)
	}
	if status, text := p.text(ann, "PUT", meaning("hers"), toJSON(map[string]string{"version": "old", "text": "{"})); status != 409 {
		t.Errorf("%d %s", status, text)
	}
	for _, c := range []struct {
		who, path string
		want      int
	}{{bob, "hers", 403}, {ann, "placed", 403}, {ann, "hers", 200}, {ann, "hers", 404}, {root, "his", 200}} {
		if status, text := p.text(c.who, "DELETE", "/api/datasets/"+c.path+"/files/meaning.yaml", ""); status != c.want {
			t.Errorf("%.20s deletes the meaning of %s: %d %s, want %d", c.who, c.path, status, text, c.want)
		}
	}
}
