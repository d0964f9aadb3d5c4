package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/engine"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/store"
)

// versionArg is the beginning of a hash, long enough to mean one version.
var versionArg = regexp.MustCompile(`^[0-9a-f]{6,64}$`)

// findVersion returns a machine by name, from a folder, or by the beginning of the hash of a
// version: one of the present definitions, or one that the log holds because a thread has or
// had it.
func (a *app) findVersion(ctx context.Context, arg string) (*machine.Machine, error) {
	m, err := a.findMachine(arg)
	if err == nil || !versionArg.MatchString(arg) {
		return m, err
	}
	lib, _, err := a.library()
	if err != nil {
		return nil, err
	}
	found, known := map[string]*machine.Machine{}, map[string]string{} // by hash; what the known ones are called
	for _, m := range lib.List() {
		known[m.Hash] = m.Name
		if strings.HasPrefix(m.Hash, arg) {
			found[m.Hash] = m
		}
	}
	if a.needState() == nil {
		s, err := a.openStore()
		if err != nil {
			return nil, err
		}
		defer s.Close()
		if err := findStoredVersions(ctx, s, arg, found, known); err != nil {
			return nil, err
		}
	}
	switch len(found) {
	case 0:
		return nil, fault.New(fault.MachineNotFound, "no version of a machine has a hash that begins with %s", arg).
			Suggest("Known are %s.", strings.Join(versionNames(known), ", "))
	case 1:
		return found[slices.Collect(maps.Keys(found))[0]], nil
	}
	several := map[string]string{}
	for hash, m := range found {
		several[hash] = m.Name
	}
	return nil, fault.New(fault.BadRequest, "the hashes of several versions begin with %s", arg).Suggest("Give more of one: %s.", strings.Join(versionNames(several), ", "))
}

// findStoredVersions adds the versions that the log holds: those that threads have, and,
// unless one of these is meant, those that threads had before they were migrated.
func findStoredVersions(ctx context.Context, s store.Store, arg string, found map[string]*machine.Machine, known map[string]string) error {
	threads, err := s.Threads(ctx, store.Query{Limit: 100_000})
	if err != nil {
		return err
	}
	for _, t := range threads {
		if known[t.Version] == "" {
			known[t.Version] = t.Machine
		}
		if strings.HasPrefix(t.Version, arg) && found[t.Version] == nil {
			if found[t.Version], err = engine.LoadDefinition(ctx, s, t.Version); err != nil {
				return err
			}
		}
	}
	if len(found) > 0 {
		return nil
	}
	usage, err := s.Usage(ctx)
	if err != nil {
		return err
	}
	for hash := range usage.Blobs {
		if !strings.HasPrefix(hash, arg) {
			continue
		}
		if m, err := engine.LoadDefinition(ctx, s, hash); err == nil { // other blobs are no definitions
			found[hash] = m
		}
	}
	return nil
}

// versionNames lists versions by name and the beginning of their hash, at most some.
func versionNames(versions map[string]string) []string {
	const most = 20
	var out []string
	for hash, name := range versions {
		out = append(out, fmt.Sprintf("%s %.12s", name, hash))
	}
	slices.Sort(out)
	if more := len(out) - most; more > 0 {
		out = append(out[:most], fmt.Sprintf("and %d more", more))
	}
	return out
}
