package meaning_test

import (
	"os"
	"strings"
	"testing"

	"interlock/internal/fault"
	"interlock/internal/meaning"
)

// TestImportDBT takes over both manifests; what dbt says that no metric can is named.
func TestImportDBT(t *testing.T) {
	for _, name := range []string{"semantic_manifest.json", "manifest.json"} {
		raw, err := os.ReadFile("testdata/dbt/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := meaning.ImportDBT(name, raw, shop())
		if err != nil {
			t.Fatal(err)
		}
		compareGolden(t, "testdata/dbt/"+strings.TrimSuffix(name, ".json")+".golden.yaml", string(text))
		requireSound(t, text, shop())
	}
}

func TestImportDBTRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"nonsense": "is no manifest of dbt", "{}": "holds neither", `{"nodes": {"a": {"resource_type": "model", "name": "elsewhere"}}}`: "none of the models",
		`{"nodes": 3}`: "is no manifest", `{"semantic_models": [{"name": 5}]}`: "is no manifest",
	} {
		_, err := meaning.ImportDBT("manifest.json", []byte(text), shop())
		if !fault.Is(err, fault.BadRequest) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
