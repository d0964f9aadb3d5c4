package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"interlock/internal/fault"
)

// owners remembers who uploaded which file and made which folder. What nobody is
// remembered for is the operator's.
type owners struct {
	path string // fixed at creation

	mu sync.Mutex
}

type ownerFile struct {
	Folders map[string]string  `json:"folders"` // by path: who made it
	Files   map[string]ownedAs `json:"files"`   // by path
}

// ownedAs holds as long as the file is the one that was uploaded: one that somebody
// wrote in its place since is the operator's.
type ownedAs struct {
	User string    `json:"user"`
	Time time.Time `json:"time"`
}

func (o *owners) load() (ownerFile, error) {
	doc := ownerFile{Folders: map[string]string{}, Files: map[string]ownedAs{}}
	text, err := readRegular(o.path, maxRegistry)
	if errors.Is(err, os.ErrNotExist) {
		return doc, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		return doc, fault.Wrap(err, fault.StoreFailed, "the list of uploads cannot be read: %v", err).Suggest("Correct %s by hand, or remove it: all files are the operator's then.", o.path)
	}
	return doc, nil
}

// change rewrites the list, without what no longer exists.
func (o *owners) change(do func(*ownerFile)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	doc, err := o.load()
	if err != nil {
		return err
	}
	do(&doc)
	for path := range doc.Files {
		if doc.fileOwner(path) == "" {
			delete(doc.Files, path)
		}
	}
	for path := range doc.Folders {
		if info, err := os.Lstat(path); err != nil || !info.IsDir() {
			delete(doc.Folders, path)
		}
	}
	text, err := json.Marshal(doc)
	if err == nil {
		err = writeFile(o.path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the list of uploads: %w", err)
	}
	return nil
}

// fileOwner is who uploaded the file; "" is the operator.
func (doc ownerFile) fileOwner(path string) string {
	owned := doc.Files[path]
	if info, err := os.Lstat(path); err != nil || !info.ModTime().Equal(owned.Time) {
		return ""
	}
	return owned.User
}

// recordUpload stores who uploaded a file.
func (o *owners) recordUpload(path, user string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return o.change(func(doc *ownerFile) {
		if user == "" {
			delete(doc.Files, path)
			return
		}
		doc.Files[path] = ownedAs{user, info.ModTime()}
	})
}

// recordFolder stores who made a folder by an upload.
func (o *owners) recordFolder(dir, user string) error {
	return o.change(func(doc *ownerFile) { doc.Folders[dir] = user })
}

// check refuses what a user may not change: files in folders that the operator placed,
// and in those made by uploads the files of others. The semantic model, which speaks for the
// whole dataset, is its maker's alone. The name "." asks for the folder.
func (o *owners) check(dir, name, dataset, user string) error {
	if user == "" {
		return nil // the operator
	}
	o.mu.Lock()
	doc, err := o.load()
	o.mu.Unlock()
	if err != nil {
		return err
	}
	if _, uploaded := doc.Folders[dir]; !uploaded {
		return fault.New(fault.Forbidden, "the files of dataset %q belong to the operator", truncate(dataset, 80)).
			Suggest("Upload into a new dataset of your own, or ask an admin.")
	}
	if isMeaning(name) {
		if doc.Folders[dir] != user {
			return fault.New(fault.Forbidden, "the meaning of dataset %q belongs to who made the dataset", truncate(dataset, 80)).
				Suggest("Ask them or an admin to change it.")
		}
		return nil
	}
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); err == nil && path != dir && doc.fileOwner(path) != user {
		return fault.New(fault.Forbidden, "the file %q of dataset %q is not yours", name, truncate(dataset, 80)).
			Suggest("Upload it under another name, or ask an admin.")
	}
	return nil
}
