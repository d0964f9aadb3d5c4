package machine_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/machine"
	"interlock/machines"
)

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "graph", name)
	if *machine.Update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestGraphs(t *testing.T) {
	for _, name := range machines.Names() {
		t.Run(name, func(t *testing.T) {
			m, err := machine.Parse(copyOf(t, name))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".mmd", m.Mermaid())
			svg, err := m.SVG()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".svg", svg)
			if again, _ := m.SVG(); again != svg {
				t.Error("drawn twice, it differs")
			}
			dec := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := dec.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("the drawing is no XML: %v", err)
				}
			}
			for _, s := range m.States {
				if !strings.Contains(svg, `id="state-`+s.Name+`"`) {
					t.Errorf("state %s is not drawn", s.Name)
				}
			}
		})
	}
}
