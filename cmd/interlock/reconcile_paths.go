package main

import (
	"os"
	"path/filepath"

	"interlock/internal/recon"
)

// recipeIn is a recipe as it is written into a folder: files are named from there, so that
// it can be applied from anywhere. Absolute paths and tables of datasets stay as they are.
func recipeIn(folder string, recipe *recon.Recipe) *recon.Recipe {
	moved := *recipe
	for _, s := range []*recon.Source{&moved.Left, &moved.Right} {
		if filepath.IsAbs(s.Source) || !isFile(s.Source) {
			continue
		}
		s.Source = filepath.ToSlash(pathFrom(folder, s.Source))
	}
	return &moved
}

// pathFrom is a path as it is written in a folder, or the path itself where there is no such.
func pathFrom(folder, path string) string {
	from, err := filepath.Abs(folder)
	if err != nil {
		return path
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if moved, err := filepath.Rel(from, to); err == nil {
		return moved
	}
	return path
}

// findSources turns the files that a recipe of a folder names into paths from here. A name
// that no file of that folder has stays as it is.
func findSources(folder string, recipe *recon.Recipe) {
	for _, s := range []*recon.Source{&recipe.Left, &recipe.Right} {
		if s.Source == "" || filepath.IsAbs(s.Source) {
			continue
		}
		if path := filepath.Join(folder, filepath.FromSlash(s.Source)); isFile(path) {
			s.Source = pathFrom(".", path)
		}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
