package data

import (
	"context"
	"errors"
	"testing"

	"interlock/internal/artifact"
	"interlock/internal/event"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// What a call stores in its thread carries the check that the thread is still its own.
func TestCallsStoreOnlyInTheirOwnThread(t *testing.T) {
	artifacts, err := artifact.New(artifact.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	lost := errors.New("lost")
	ctx := tool.With(t.Context(), tool.Call{Owner: "ann", Thread: "t", CheckOwner: func(context.Context) error { return lost }})
	if _, _, err := (StepResults{artifacts}).Keep(ctx, toolbox.Result{Name: "r", Producer: "sql", Rows: []byte("[[1]]")}); !errors.Is(err, lost) {
		t.Errorf("rows were kept: %v", err)
	}
	if _, err := (Files{Artifacts: artifacts}).Save(ctx, toolbox.File{Name: "f", Format: "csv", Producer: "file"}, []byte("a")); !errors.Is(err, lost) {
		t.Errorf("a file was stored: %v", err)
	}
	if list, err := artifacts.List(t.Context(), "ann", "t"); err != nil || len(list) != 0 {
		t.Errorf("the thread has %+v, %v", list, err)
	}
}

// The same statement over two datasets gives two artifacts, over changed data a version.
func TestResultsOfTwoDatasetsAreApart(t *testing.T) {
	artifacts, err := artifact.New(artifact.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx := tool.With(t.Context(), tool.Call{Owner: "ann", Thread: "t"})
	keep := func(dataset, rows string) event.ArtifactMade {
		_, made, err := (StepResults{artifacts}).Keep(ctx, toolbox.Result{Name: "r", Producer: "sql", Dataset: dataset, Source: "SELECT 1", Rows: []byte(rows)})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	north, south, changed := keep("north", "[[1]]"), keep("south", "[[2]]"), keep("north", "[[3]]")
	if north.ID == south.ID || south.Version != 1 {
		t.Errorf("the other dataset's rows are version %d of the same artifact", south.Version)
	}
	if changed.ID != north.ID || changed.Version != 2 {
		t.Errorf("rows of changed data are version %d of %s, want 2 of %s", changed.Version, changed.ID, north.ID)
	}
}

// Rows of one statement in another order are no new version; other rows of the same length are.
func TestRowsInAnotherOrderAreTheSameResult(t *testing.T) {
	artifacts, err := artifact.New(artifact.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx := tool.With(t.Context(), tool.Call{Owner: "ann", Thread: "t"})
	keep := func(source, rows string) (string, event.ArtifactMade) {
		id, made, err := (StepResults{artifacts}).Keep(ctx, toolbox.Result{Name: "r", Producer: "sql", Dataset: "shop", Source: source, Rows: []byte(rows)})
		if err != nil {
			t.Fatal(err)
		}
		return id, made
	}
	first, _ := keep("GROUP BY 1", `[["a",1],["b",2]]`)
	if again, made := keep("GROUP BY 1", `[["b",2],["a",1]]`); again != first || !made.Reused {
		t.Errorf("the same rows in another order are %s, not %s", again, first)
	}
	if other, made := keep("GROUP BY 1", `[["a",2],["b",1]]`); made.Version != 2 {
		t.Errorf("other rows are %s", other)
	}
	if sorted, made := keep("GROUP BY 1 ORDER BY 2 DESC", `[["b",2],["a",1]]`); sorted == first || made.Reused {
		t.Errorf("a statement with another order has the rows of the first")
	}
}
