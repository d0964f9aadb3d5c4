package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sweep removes databases that are no version of today and that nobody was given
// for a while. Who still reads one keeps it until he closes it: the file system sees to that.
func (c *Catalog) sweep() {
	paths, err := filepath.Glob(filepath.Join(c.config.Dir, "*.duckdb"))
	if err != nil {
		return
	}
	current := c.newestDatabases(paths)
	for _, path := range paths {
		c.mu.Lock()
		last, handed := c.used[path]
		c.mu.Unlock()
		if info, err := os.Stat(path); err == nil && !handed {
			last = info.ModTime()
		}
		if !current[path] && time.Since(last) > c.config.Keep {
			c.drop(path)
		}
	}
	left, _ := filepath.Glob(filepath.Join(c.config.Dir, ".*-*")) // of imports that were killed
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
}

// newestDatabases gives the latest database of each dataset that still exists.
func (c *Catalog) newestDatabases(paths []string) map[string]bool {
	latest := map[string]string{}
	made := map[string]time.Time{}
	for _, path := range paths {
		if m, ok := c.manifest(path); ok && m.Made.After(made[m.Dataset]) {
			latest[m.Dataset], made[m.Dataset] = path, m.Made
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	current := map[string]bool{}
	for _, d := range c.datasets {
		current[latest[d.id]] = true
	}
	return current
}

func (c *Catalog) drop(path string) {
	c.config.Engine.Forget(path)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		c.config.Log.Warn("An old database could not be removed.", "path", path, "err", err)
		return
	}
	_ = os.Remove(path + ".json")
	_ = os.Remove(path + relationsSuffix)
	_ = os.Remove(path + samplesSuffix)
	removeLock(path)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, path)
	delete(c.used, path)
	for key := range c.derived {
		if strings.HasSuffix(key, path) {
			delete(c.derived, key)
		}
	}
}
