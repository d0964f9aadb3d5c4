package jail_test

import (
	"testing"

	"interlock/internal/jail"
)

func TestProbe(t *testing.T) {
	report := jail.Probe()
	has := map[string]bool{}
	for _, l := range report.Layers {
		t.Logf("%-20s %-5v %s %s", l.Name, l.OK, l.Detail, l.Fix)
		has[l.Name] = l.OK
		if !l.OK && l.Fix == "" {
			t.Errorf("%s is missing and no fix is named", l.Name)
		}
	}
	// Every supported kernel has these, whatever else its administrator forbids.
	for _, name := range []string{jail.LayerCalls, jail.LayerLimits} {
		if !has[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if has[jail.LayerBox] && !(has[jail.LayerUser] && has[jail.LayerMount]) {
		t.Error("a box without the namespaces it is made of")
	}
}
