package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"interlock/internal/artifact"
	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/recon"
	"interlock/internal/store"
)

// readPrevious reads the evidence of an earlier run: of a folder that --out wrote, or of a
// run of a thread by its id.
func (c *reconciliation) readPrevious(ctx context.Context) (*recon.Previous, error) {
	named := c.options.previous
	if _, err := os.Stat(named); err == nil {
		return recon.ReadPrevious(named)
	}
	dir := filepath.Join(c.imported, "previous")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the earlier run: %w", err)
	}
	if err := c.copyEvidence(ctx, named, dir); err != nil {
		return nil, err
	}
	return recon.ReadPrevious(dir)
}

// copyEvidence writes the files that a run of a thread made as its evidence into a folder.
func (c *reconciliation) copyEvidence(ctx context.Context, run, dir string) error {
	unknown := fault.New(fault.BadRequest, "There is neither a folder nor a run %.80q with evidence of a reconciliation.", run).
		Suggest("Name a folder that --out wrote, or the id of a run that matched all rows.")
	path := filepath.Join(c.cfg.State, "interlock.db")
	if _, err := os.Stat(path); err != nil {
		return unknown
	}
	log, err := store.Open(store.Config{DSN: path, Log: c.system.log})
	if err != nil {
		return err
	}
	defer log.Close()
	row, err := log.Run(ctx, run)
	if err != nil || row.Owner != c.cfg.Owner {
		return unknown
	}
	files := map[string]event.ArtifactMade{} // the last of each name
	for ev, err := range engine.Resolved(ctx, log, row.Thread, row.First-1) {
		if err != nil {
			return err
		}
		if row.Last > 0 && ev.Seq > row.Last {
			break
		}
		if made, ok := ev.Body.(event.ArtifactMade); ok && made.Producer == recon.Producer {
			files[filepath.Base(made.Name)] = made
		}
	}
	if len(files) == 0 {
		return unknown
	}
	artifacts, err := artifact.New(artifact.Config{Dir: filepath.Join(c.cfg.State, "artifacts")})
	if err != nil {
		return err
	}
	for name, made := range files {
		if err := c.copyArtifact(ctx, artifacts, made, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyArtifact writes one version of an artifact into a file.
func (c *reconciliation) copyArtifact(ctx context.Context, artifacts *artifact.Store, made event.ArtifactMade, path string) error {
	content, _, err := artifacts.Open(ctx, c.cfg.Owner, fmt.Sprintf("%s@%d", made.ID, made.Version))
	if err != nil {
		return err
	}
	defer content.Close()
	return copyToNewFile(path, content)
}
