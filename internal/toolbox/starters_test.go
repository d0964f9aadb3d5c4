package toolbox_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"interlock/internal/toolbox"
)

// Questions to begin with have run and found something, and are worked out once a version.
func TestStartersAreTried(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.answers["avg("] = `[[null]]` // this one finds nothing
	k := toolbox.NewKnowledge(f)
	list, err := k.Starters(t.Context(), "shop")
	if err != nil || len(list) < 3 {
		t.Fatalf("%v %v", list, err)
	}
	if slices.ContainsFunc(list, func(q string) bool { return strings.Contains(q, "average") }) {
		t.Errorf("a question without an answer is offered: %v", list)
	}
	ran := len(f.asked)
	if again, err := k.Starters(t.Context(), "shop"); err != nil || !slices.Equal(again, list) || len(f.asked) != ran {
		t.Errorf("they were tried again: %v %v, %d statements", again, err, len(f.asked)-ran)
	}
	f.version, f.fails = "v2", errors.New("the engine is down")
	if list, err := k.Starters(t.Context(), "shop"); err != nil || len(list) != 0 {
		t.Errorf("nothing ran, and there are %v, %v", list, err)
	}
}
