package data

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/event"
)

// Bounds of the folder of bundles.
const (
	maxBundles  = 8 << 30
	freshBundle = 10 * time.Minute // used so lately that a job may be about to open it
)

// bundles is a folder of tables in the form in which Python loads them: each is made
// once, and the ones that nobody used for longest go when the folder is full.
type bundles struct {
	dir    string
	limit  int64
	making [64]sync.Mutex // held while a bundle is made, by its hash
}

// openBundles sweeps what a killed process left half made.
func openBundles(dir string) (*bundles, error) {
	b := &bundles{dir: dir, limit: maxBundles}
	return b, b.sweep(time.Now())
}

// file returns the file of a bundle, and makes it where it is missing.
func (b *bundles) file(key []string, fill func(path string) error) (string, error) {
	hash := event.Hash([]byte(strings.Join(key, "\x00")))
	path := filepath.Join(b.dir, hash[:32]+".bundle")
	making := &b.making[int(hash[0])%len(b.making)]
	making.Lock()
	defer making.Unlock()
	now := time.Now()
	if err := os.Chtimes(path, now, now); err == nil {
		return path, nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("using a bundle: %w", err)
	}
	if err := fill(path); err != nil {
		return "", err
	}
	return path, b.sweep(now)
}

// sweep removes what was used longest ago until the rest fits, and what is no
// finished bundle and old.
func (b *bundles) sweep(now time.Time) error {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return fmt.Errorf("sweeping bundles: %w", err)
	}
	type file struct {
		path string
		used time.Time
		size int64
	}
	var files []file
	var sum int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // gone meanwhile
		}
		path := filepath.Join(b.dir, e.Name())
		if filepath.Ext(path) != ".bundle" || strings.HasPrefix(e.Name(), ".") {
			if now.Sub(info.ModTime()) > time.Hour {
				_ = os.Remove(path) // whoever needs the room hears of it
			}
			continue
		}
		files = append(files, file{path, info.ModTime(), info.Size()})
		sum += info.Size()
	}
	slices.SortFunc(files, func(x, y file) int { return cmp.Or(x.used.Compare(y.used), cmp.Compare(x.path, y.path)) })
	for _, f := range files {
		if sum <= b.limit || now.Sub(f.used) < freshBundle {
			break
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("sweeping bundles: %w", err)
		}
		sum -= f.size
	}
	return nil
}
