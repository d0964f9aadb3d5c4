package machine_test

import (
	"testing"

	"interlock/internal/machine"
	"interlock/machines"
)

func TestShippedMachinesHaveNoFindings(t *testing.T) {
	for _, name := range machines.Names() {
		t.Run(name, func(t *testing.T) {
			fsys, err := machines.FS(name)
			if err != nil {
				t.Fatal(err)
			}
			m, found, err := machine.ExamineFS(fsys, toolTypes(t))
			if err != nil {
				t.Fatal(err)
			}
			if len(found) > 0 {
				t.Fatalf("findings:\n%v", found)
			}
			if m.Name != name {
				t.Errorf("folder %s holds machine %s", name, m.Name)
			}
		})
	}
}
