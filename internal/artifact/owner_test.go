package artifact_test

import (
	"context"
	"strings"
	"testing"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// A process that lost its thread, because it was suspended while a tool ran, leaves no
// version behind, whenever it was suspended: before the content gets its name or after.
func TestLateWriterLeavesNothing(t *testing.T) {
	for name, lostAt := range map[string]int{"before": 1, "after": 2} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			late, prompt := open(t, dir), open(t, dir)
			first := put(t, prompt, csv, "1")
			asked := 0
			p := csv
			p.CheckOwner = func(context.Context) error {
				if asked++; asked >= lostAt {
					return fault.New(fault.Conflict, "another process has taken this thread over")
				}
				return nil
			}
			if made, err := late.Put(t.Context(), p, strings.NewReader("late")); !fault.Is(err, fault.Conflict) || made.ID != "" {
				t.Errorf("the late content was stored: %+v, %v", made, err)
			}
			if content, meta := read(t, prompt, "ann", first.ID); content != "1" || meta.Version != 1 {
				t.Errorf("the newest is version %d: %s", meta.Version, content)
			}
			p.CheckOwner = func(context.Context) error { return nil }
			if second := put(t, prompt, p, "2"); second.ID != first.ID || second.Version != 2 {
				t.Errorf("the next version is %+v", second)
			}
			list, err := prompt.List(t.Context(), "ann", "t")
			if err != nil || len(list) != 2 {
				t.Errorf("the thread has %d versions, %v", len(list), err)
			}
		})
	}
}

// The new owner of a thread may find and use the version of a process that lost it, before
// that process notices: then the version stays, and the new owner does not wait for it.
func TestLateWriterLeavesWhatTheNewOwnerUses(t *testing.T) {
	dir := t.TempDir()
	late, prompt := open(t, dir), open(t, dir)
	var used event.ArtifactMade
	asked := 0
	p := csv
	p.CheckOwner = func(context.Context) error {
		if asked++; asked == 1 {
			return nil
		}
		used = put(t, prompt, csv, "the same rows") // the late process is suspended here
		return fault.New(fault.Conflict, "another process has taken this thread over")
	}
	if _, err := late.Put(t.Context(), p, strings.NewReader("the same rows")); !fault.Is(err, fault.Conflict) {
		t.Errorf("the late writer is told %v", err)
	}
	if !used.Reused {
		t.Errorf("the new owner was given %+v", used)
	}
	if content, meta := read(t, prompt, "ann", used.ID); content != "the same rows" || meta.Version != used.Version {
		t.Errorf("version %d holds %q", meta.Version, content)
	}
	if again := put(t, prompt, csv, "the same rows"); again.ID != used.ID || again.Version != used.Version {
		t.Errorf("the next one is %+v", again)
	}
}
