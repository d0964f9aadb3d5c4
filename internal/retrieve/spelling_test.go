package retrieve

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMisspeltWordsAreRepaired reads misspelt words as the documents spell them, and only as those do that the
// person may see.
func TestMisspeltWordsAreRepaired(t *testing.T) {
	x := openIndex(t, openModel(t))
	write := func(dir, text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	add(t, x, AddRequest{Collection: "shop", Path: write(t.TempDir(), "# Warranty\n\nThe warranty of a greenhouse lasts seven years. The greenhouses are delivered by lorry.")})
	add(t, x, AddRequest{Collection: "own", Owner: "anna", Path: write(t.TempDir(), "# Secret\n\nThe takeover of Quastenflosser is planned for spring.")})
	for _, c := range []struct{ owner, question, want string }{
		{"", "How long is the Warrnaty of a greenhuose?", "How long is the warranty of a greenhouse?"}, // letters turned round
		{"", "How long is the warranty of a greenhouse?", ""},
		{"", "Who plays the saxophone in the orchestra?", ""}, // English, but not of the documents
		{"", "What is a Quastenflossr?", ""},                  // only a document of somebody else has it
		{"anna", "What is a Quastenflossr?", "What is a quastenflosser?"},
		{"", "wararnty", "warranty"},
		{"", "xyzzyqqq", ""},
	} {
		found := search(t, x, Scope{Owner: c.owner}, c.question)
		if len(found) == 0 || found[0].ReadAs != c.want {
			t.Errorf("%q of %q was read as %+v, want %q", c.question, c.owner, found, c.want)
		}
	}
}
