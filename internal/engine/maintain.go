package engine

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/store"
)

// RemoveArtifacts records in threads that artifacts are removed, and then calls remove,
// before another turn can begin in one of them. seqs are the last events of these threads as
// the caller knows them. It changes nothing unless it owns all of them, no turn runs or waits
// in any, and none has grown since.
func (e *Engine) RemoveArtifacts(ctx context.Context, seqs map[string]int64, ids []string, remove func() error) error {
	return e.changeAllAtRest(ctx, slices.Sorted(maps.Keys(seqs)), nil, func(turns []*turn) error {
		for _, t := range turns {
			if t.f.Seq != seqs[t.f.Thread] {
				return fault.New(fault.Conflict, "the thread %s has grown meanwhile", t.f.Thread)
			}
		}
		for _, t := range turns {
			t.emit(event.ArtifactsRemoved{Artifacts: ids})
			if err := t.commit(ctx); err != nil {
				return err
			}
		}
		return remove()
	})
}

// ThreadRemoved forgets a thread that is no longer in the store, and ends its followers.
func (e *Engine) ThreadRemoved(thread string) {
	e.mu.Lock()
	e.cache.remove(thread)
	e.mu.Unlock()
	e.hub.failFollowers(thread, fault.New(fault.ThreadNotFound, "the thread %s was deleted", thread))
}

// Migrate moves a thread to another version of its machine. The error names each reason
// why the thread could not go on with it.
func (e *Engine) Migrate(ctx context.Context, thread string, to *machine.Machine, user string) error {
	return e.changeAtRest(ctx, thread, func(t *turn) error {
		from := t.r.m
		switch {
		case to.Name != t.f.Machine:
			return fault.New(fault.BadRequest, "the thread %s is one of the machine %s, not of %s", thread, t.f.Machine, to.Name)
		case to.Hash == from.Hash:
			return fault.New(fault.BadRequest, "the thread %s has this version of %s already", thread, to.Name)
		}
		settings, why := migrateSettings(to, t.f.Settings)
		if t.f.State != "" { // "" before the first turn
			why = append(machine.UpgradeProblems(from, to, t.f.State, t.f.facts), why...)
		}
		if len(why) > 0 {
			return fault.New(fault.Conflict, "the thread %s cannot go on with this version of %s: %s", thread, to.Name, strings.Join(why, "; ")).With(why).
				Suggest("Let it go on with its own version, or change the definition.")
		}
		t.blobs = []store.Blob{e.defs.add(to)}
		t.emit(event.ThreadMigrated{From: from.Hash, To: to.Hash, User: user, Settings: settings})
		if changed, ok := migrateFacts(to, t.f); ok {
			t.emit(changed)
		}
		t.setFold(t.f, to)
		return nil
	})
}

// maxTitle is how many characters the title of a thread may have.
const maxTitle = 200

// Rename gives a thread another title.
func (e *Engine) Rename(ctx context.Context, thread, title, user string) error {
	title = strings.Join(strings.Fields(title), " ")
	switch n := utf8.RuneCountInString(title); {
	case n == 0:
		return fault.New(fault.BadRequest, "the title of the thread %s is empty", thread).Suggest("Give it a few words.")
	case n > maxTitle:
		return fault.New(fault.BadRequest, "the title of the thread %s has %d characters", thread, n).Suggest("Use at most %d.", maxTitle)
	}
	return e.changeAtRest(ctx, thread, func(t *turn) error {
		if title != t.f.Title {
			t.emit(event.ThreadRenamed{Title: title, User: user})
		}
		return nil
	})
}

// MigrationProblems says why a thread could not go on with another version of its machine;
// nothing means that Migrate would move it, once no turn of it runs or waits.
func MigrationProblems(from, to *machine.Machine, v View) []string {
	own := maps.Clone(v.Settings)
	for _, s := range from.Settings {
		if bytes.Equal(mustJSON(own[s.Name]), mustJSON(s.Default)) {
			delete(own, s.Name)
		}
	}
	_, why := migrateSettings(to, own)
	if v.Thread.State == "" {
		return why
	}
	return append(machine.UpgradeProblems(from, to, v.Thread.State, v.Facts), why...)
}

// migrateSettings returns the settings of a thread that a version has, too, and says which
// of them do not fit there.
func migrateSettings(to *machine.Machine, settings map[string]any) (fit map[string]any, problems []string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !slices.ContainsFunc(to.Settings, func(s *machine.Setting) bool { return s.Name == name }) {
			continue
		}
		one, err := checkSettings(to, map[string]any{name: settings[name]})
		if err != nil {
			problems = append(problems, fault.From(err).Message)
			continue
		}
		if fit == nil {
			fit = map[string]any{}
		}
		maps.Copy(fit, one)
	}
	return fit, problems
}

// migrateFacts returns the change that makes the facts of a thread those of a version: facts
// that it does not have are dropped, and values take the form of their new type.
func migrateFacts(to *machine.Machine, f *fold) (event.Body, bool) {
	var c machine.Change
	for _, name := range slices.Sorted(maps.Keys(f.facts)) {
		decl := to.Fact(name)
		if decl == nil || decl.Is != nil {
			c.Dropped = append(c.Dropped, name)
			continue
		}
		v, err := machine.Conform(decl.Type, f.facts[name])
		if err != nil || v == nil { // a null has no type; UpgradeProblems has named the others
			continue
		}
		if !bytes.Equal(mustJSON(v), mustJSON(f.facts[name])) {
			if c.Set == nil {
				c.Set = map[string]any{}
			}
			c.Set[name] = v
		}
	}
	return newFactsChanged(c, "migrated")
}

// changeAllAtRest calls change while it owns all the threads; held are those that it owns
// already. Owners of several threads take them in the same order.
func (e *Engine) changeAllAtRest(ctx context.Context, threads []string, held []*turn, change func([]*turn) error) error {
	if len(threads) == 0 {
		return change(held)
	}
	return e.changeAtRest(ctx, threads[0], func(t *turn) error {
		return e.changeAllAtRest(ctx, threads[1:], append(held, t), change)
	})
}

// changeAtRest lets the caller emit events in a thread in which no turn runs or waits, and
// stores them.
func (e *Engine) changeAtRest(ctx context.Context, thread string, change func(*turn) error) error {
	if err := e.waitForRest(ctx, thread); err != nil {
		return err
	}
	t, err := e.takeOwnership(ctx, thread, toChange)
	if err != nil {
		return err
	}
	defer e.releaseThread(thread, t)
	if err := t.loadThread(ctx, thread); err != nil {
		return err
	}
	if t.f.active() {
		return fault.New(fault.ThreadBusy, "a turn of the thread %s runs or waits for an answer", thread).
			Suggest("Answer its card, or stop it: `interlock thread stop %s`.", thread)
	}
	if err := change(t); err != nil {
		return err
	}
	return t.commit(ctx)
}
