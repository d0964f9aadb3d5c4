package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"interlock/internal/fault"
	"interlock/internal/source"
)

// private recognises the folders of the program itself. They are never data: who
// could query them would read passwords and the threads of others.
type private struct {
	dirs []string
	// reached remembers, during one scan, which folders are among dirs or below.
	reached map[string]bool
}

// contains says whether a path lies in one of the folders, by whatever way it leads
// there: links, .., a second name of a file or of a folder.
func (p private) contains(path string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return true
	}
	real := resolve(path)
	info, err := os.Stat(real)
	for _, dir := range p.dirs {
		if isBelow(resolve(dir), real) || err == nil && isHardLinkInto(info, dir) {
			return true
		}
	}
	if err == nil && !info.IsDir() {
		real = filepath.Dir(real)
	}
	return p.containsFolder(real)
}

// containsFolder says whether a folder is one of dirs or lies below one, under another name too.
func (p private) containsFolder(dir string) bool {
	known, ok := p.reached[dir]
	if !ok {
		known = slices.ContainsFunc(p.dirs, func(own string) bool { return isBelowMount(dir, own) })
		if p.reached != nil {
			p.reached[dir] = known
		}
	}
	return known
}

// resolve follows links; of a path that does not exist, those of the part that does.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, name := filepath.Split(filepath.Clean(path))
	if dir = filepath.Clean(dir); dir == path || name == "" {
		return path
	}
	return filepath.Join(resolve(dir), name)
}

func isBelow(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// isBelowMount says whether a folder above the path is dir under another name, as a mount
// gives it one.
func isBelowMount(path, dir string) bool {
	want, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, want) {
			return true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}

// maxLinked bounds how many files of the state are compared with one that has several names.
const maxLinked = 100_000

// isHardLinkInto says whether a file is a second name of one that lies in dir or below it.
func isHardLinkInto(info os.FileInfo, dir string) bool {
	if st, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || ok && st.Nlink < 2 {
		return false
	}
	found, seen := false, 0
	_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if seen++; found || seen > maxLinked {
			return filepath.SkipAll
		}
		if err != nil || e.IsDir() {
			return nil // what cannot be read here cannot be read as data either
		}
		own, err := e.Info()
		found = err == nil && os.SameFile(info, own)
		return nil
	})
	return found || seen > maxLinked
}

const isPrivate = "It lies in the folder of Interlock's own state, which is never read as data."

// localPath is the path that an address of a source names on this machine, "" of a server.
func localPath(address string) string {
	switch source.Scheme(address) {
	case "file":
		return strings.TrimPrefix(address, "file://")
	case "sqlite":
		return source.Config{URL: address}.File()
	}
	return ""
}

// checkLocal refuses an address in the program's own folders.
func (c *Catalog) checkLocal(address string) error {
	if path := localPath(address); path != "" && c.private.contains(path) {
		return fault.New(fault.Forbidden, "this lies in the folder of Interlock's own state, which is never a source").
			Suggest("Name a file or folder elsewhere.")
	}
	return nil
}

// CheckServed refuses an address that somebody who calls over the network may not
// add: a local path outside of the data folders and of those that the operator allowed.
// It does not say whether there is something.
func (c *Catalog) CheckServed(address string) error {
	path := localPath(address)
	if path == "" {
		return nil
	}
	if err := c.checkLocal(address); err != nil {
		return err
	}
	if path, err := filepath.Abs(path); err == nil {
		real := resolve(path)
		if slices.ContainsFunc(slices.Concat(c.config.Roots, c.config.SourceFolders), func(dir string) bool { return isBelow(resolve(dir), real) }) {
			return nil
		}
	}
	return fault.New(fault.Forbidden, "a source on this machine must lie in a data folder").
		Suggest("Put the file into a data folder, or let the operator allow its folder with --source-folders or add it with `interlock sources add`.")
}
