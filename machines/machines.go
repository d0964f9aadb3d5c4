// Package machines holds the machines that ship with Interlock: one folder each, with
// the definition and its prompts.
package machines

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
)

//go:embed analyst pipeline workbench assistant reconcile
var files embed.FS

var names = []string{"analyst", "pipeline", "workbench", "assistant", "reconcile"}

// Names lists the shipped machines; the first is the default.
func Names() []string { return slices.Clone(names) }

// FS gives the folder of a shipped machine.
func FS(name string) (fs.FS, error) {
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("no machine %q is shipped: %w", name, fs.ErrNotExist)
	}
	return fs.Sub(files, name)
}

// All gives the folders of all shipped machines by name.
func All() map[string]fs.FS {
	all := make(map[string]fs.FS, len(names))
	for _, name := range names {
		sub, err := FS(name)
		if err != nil {
			panic("machines: " + err.Error()) // the embedded tree is fixed at build time
		}
		all[name] = sub
	}
	return all
}
