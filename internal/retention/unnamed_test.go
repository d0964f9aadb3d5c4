package retention_test

import (
	"strings"
	"testing"
	"time"

	"interlock/internal/artifact"
	"interlock/internal/retention"
)

// A version that no log names yet stays while a turn runs in its thread, which may be taking
// it up.
func TestUnnamedArtifactOfABusyThread(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	thread, _ := d.ask("", "report")
	made, err := d.artifacts.Put(t.Context(), artifact.Put{Name: "more", Type: "txt", Producer: "python", Thread: thread, Owner: "ann"}, strings.NewReader("more"))
	if err != nil {
		t.Fatal(err)
	}
	d.wait(40 * day)
	p := d.plan(retention.Limits{ArtifactAge: 30 * day})
	if len(p.Artifacts) != 2 {
		t.Fatalf("the plan removes %+v", p.Artifacts)
	}
	lease, err := d.store.Acquire(t.Context(), thread, "another process", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := d.keeper.Apply(t.Context(), p); err != nil || done.Artifacts != 0 || !d.exists(made.ID) {
		t.Errorf("removed %+v while a turn runs, %v", done, err)
	}
	if err := d.store.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if done, err := d.keeper.Apply(t.Context(), p); err != nil || done.Artifacts != 2 || d.exists(made.ID) {
		t.Errorf("removed %+v, %v", done, err)
	}
}
