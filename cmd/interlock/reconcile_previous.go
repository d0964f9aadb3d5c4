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

// checkOut sees to it that no evidence is lost by accident: that of the run before, which is
// read, is never written over, and other evidence only if the person agrees.
func (c *reconciliation) checkOut() (goOn bool, err error) {
	out, err := os.Stat(c.options.out)
	if c.options.out == "" || err != nil {
		return true, nil
	}
	if before, err := os.Stat(c.options.previous); err == nil && os.SameFile(before, out) {
		return false, usageError{fmt.Errorf("--out %s is the folder of the run before, whose evidence would be lost: name another one", c.options.out)}
	}
	there, err := recon.ReadPrevious(c.options.out)
	if err != nil || c.options.yes || c.json || !isTerminal(c.in) {
		return true, nil
	}
	question := fmt.Sprintf("%s holds the evidence of a run of %s. Replace it?", oneLine(c.options.out), there.Report.At.Local().Format("2006-01-02 15:04"))
	answer, ok := c.choose(question, "y", "n")
	switch {
	case !ok:
		c.code = exitNeedsAnswer
	case answer == "n":
		c.code = exitDeclined
	default:
		return true, nil
	}
	fmt.Fprintln(c.errw, "Nothing was matched. --out takes another folder.")
	return false, nil
}

// countCarried says how many of the rows that were carried over are still open.
func (c *reconciliation) countCarried(ctx context.Context, o *recon.Outcome) (err error) {
	carried := recon.Carried{Left: c.report.Carried[0], Right: c.report.Carried[1]}
	if carried.OpenLeft, err = c.recon.CountStillOpen(ctx, c.own[0], leftTable+"_open", true); err != nil {
		return err
	}
	if carried.OpenRight, err = c.recon.CountStillOpen(ctx, c.own[1], rightTable+"_open", false); err != nil {
		return err
	}
	o.Carried = &carried
	return nil
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
