package query_test

import (
	"path/filepath"
	"sync"
	"testing"

	"interlock/internal/query"
)

// Engines of several processes begin at the same time: none takes the folder of another,
// which has no lock yet, for one that was left.
func TestFoldersOfEnginesThatBeginTogether(t *testing.T) {
	dir := t.TempDir()
	for range 20 {
		engines := make([]*query.Engine, 16)
		var begun sync.WaitGroup
		for i := range engines {
			begun.Go(func() {
				var err error
				if engines[i], err = query.New(query.Config{Dir: dir}); err != nil {
					t.Error(err)
				}
			})
		}
		begun.Wait()
		folders, err := filepath.Glob(filepath.Join(dir, "query-*"))
		if err != nil || len(folders) != len(engines) {
			t.Errorf("%d engines have %d folders: %v", len(engines), len(folders), err)
		}
		for _, e := range engines {
			if e != nil {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		if t.Failed() {
			return
		}
	}
}
