package toolbox_test

import (
	"strings"
	"testing"

	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// The schema of a built-in tool is compiled by its first call; here all are.
func TestSchemasCompile(t *testing.T) {
	set := tool.NewSet(nil, toolbox.Tools(toolbox.Config{})...)
	for _, name := range set.Names() {
		e, err := set.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if f := e.Validate(map[string]any{}); f != nil && strings.Contains(f.Message, "cannot be checked") {
			t.Errorf("%s: %v", name, f)
		}
	}
}
