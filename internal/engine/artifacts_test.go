package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock/internal/event"
)

// The list of artifacts in a prompt stays bounded, has the newest first, and shows a
// thing with versions once, as its newest version.
func TestArtifactListIsBounded(t *testing.T) {
	f := newFold("t")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	add := func(n, version int) {
		f.apply(event.Event{Seq: f.Seq + 1, Time: at, Body: event.ArtifactMade{
			ID: fmt.Sprintf("art_%04d", n), Name: strings.Repeat("n", 120) + ".csv", Type: "csv", Call: "r1_1", Producer: "sql", LogicalKey: "0123456789abcdef", Version: version, CreatedAt: at,
		}})
	}
	for n := range 1000 {
		add(n, 1)
	}
	add(7, 2)
	add(8, 1) // used again: it stays where it is
	if len(f.Artifacts) != 1000 {
		t.Errorf("%d artifacts are kept", len(f.Artifacts))
	}
	text := artifactList(f.Artifacts, 30)
	lines := strings.Split(text, "\n")
	if len(text) > 12_000 || len(lines) != 2+30+1 || lines[len(lines)-1] != "and 970 older" {
		t.Errorf("%d bytes in %d lines, the last %q", len(text), len(lines), lines[len(lines)-1])
	}
	if !strings.Contains(lines[2], "artifact_id=art_0007") || !strings.HasSuffix(lines[2], "version=2") || !strings.Contains(lines[3], "artifact_id=art_0999") {
		t.Errorf("the newest are\n%s\n%s", lines[2], lines[3])
	}
	if strings.Count(text, "art_0007") != 1 {
		t.Error("a thing with two versions is listed twice")
	}
}
