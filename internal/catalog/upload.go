package catalog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// An Upload is a file that is to lie in the folder of a dataset.
type Upload struct {
	Dataset string
	Name    string // only its last part counts
	Replace bool   // a file of that name is replaced
	Create  bool   // a dataset that does not exist is made
	User    string // who uploads it; "" is the operator, who may change every file
}

// An Uploaded file, and the dataset with it.
type Uploaded struct {
	File     string         `json:"file"`
	Bytes    int64          `json:"bytes"`
	Replaced bool           `json:"replaced,omitempty"`
	Dataset  schema.Dataset `json:"dataset"`
}

// uploadKinds are read by confined workers only; who uploads is not trusted.
var uploadKinds = []string{"csv", "json", "ndjson", "parquet", "xlsx", "duckdb"}

const maxUploadName = 120 // bytes

// Upload stores a file in a data folder. It appears under its name when it is whole;
// nothing outside the dataset's folder is touched, whatever its name says.
func (c *Catalog) Upload(ctx context.Context, u Upload, content io.Reader) (Uploaded, error) {
	name, err := uploadName(u.Name)
	if err != nil {
		return Uploaded{}, err
	}
	dir, err := c.folderOf(ctx, u.Dataset, u.Create, u.User)
	if err != nil {
		return Uploaded{}, err
	}
	if err := c.owners.check(dir, name, u.Dataset, u.User); err != nil {
		return Uploaded{}, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Uploaded{}, notWritable(u.Dataset, err)
	}
	defer root.Close()
	done := Uploaded{File: name}
	if old, err := root.Lstat(name); err == nil {
		done.Replaced = true
		if !u.Replace || old.IsDir() {
			return Uploaded{}, nameTaken(u.Dataset, name)
		}
	}
	part := ".upload-" + rand.Text()
	defer func() { _ = root.Remove(part) }() // gone where it was renamed
	if done.Bytes, err = c.receive(ctx, root, part, content); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			err = notWritable(u.Dataset, err)
		}
		return Uploaded{}, err
	}
	// Somebody may have uploaded the same name meanwhile: who may replace it is asked again.
	c.placing.Lock()
	defer c.placing.Unlock()
	if err := c.owners.check(dir, name, u.Dataset, u.User); err != nil {
		return Uploaded{}, err
	}
	if err := c.keepTable(ctx, u.Dataset, name); err != nil {
		return Uploaded{}, err
	}
	_, err = root.Lstat(name)
	done.Replaced = err == nil
	if err = renameUpload(root, part, name, u.Replace); errors.Is(err, fs.ErrExist) {
		return Uploaded{}, nameTaken(u.Dataset, name)
	} else if err != nil {
		return Uploaded{}, fmt.Errorf("putting an upload in its place: %w", err)
	}
	if err := c.owners.recordUpload(filepath.Join(dir, name), u.User); err != nil {
		return Uploaded{}, err
	}
	c.lookAgain()
	done.Dataset, err = c.Get(ctx, u.Dataset)
	return done, err
}

// keepTable refuses a file whose table would have the name of a table that another file
// has: statements would read the new one from then on.
func (c *Catalog) keepTable(ctx context.Context, id, file string) error {
	d, err := c.find(ctx, id)
	switch {
	case fault.Is(err, fault.DatasetNotFound): // it is made with this file
		return nil
	case err != nil:
		return err
	}
	name := plainName(stem(file))
	for _, t := range d.tables {
		if strings.EqualFold(t.name, name) && t.file != printable(file) {
			return fault.New(fault.Conflict, "dataset %q has a table %q already, from %q", truncate(id, 80), t.name, t.file).
				Suggest("Upload the file under another name, so that statements go on reading the table that they mean.")
		}
	}
	return nil
}

// Problems reads a dataset and says what is wrong with it, file by file; nothing if all
// of it can be read.
func (c *Catalog) Problems(ctx context.Context, id string) ([]schema.Problem, error) {
	shown, err := c.Describe(ctx, id)
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Code != fault.SourceUnreadable {
		return shown.Problems, err
	}
	if problems, ok := f.Details.([]schema.Problem); ok {
		return problems, nil
	}
	// Nothing of it could be read: the message names the first file in the way.
	path := id
	if d, err := c.find(ctx, id); err == nil {
		for _, t := range d.tables {
			if strings.Contains(f.Message, filepath.Base(t.file)) {
				path = t.file
				break
			}
		}
	}
	return []schema.Problem{{Path: path, Message: f.Message}}, nil
}

// Discard deletes a file of a dataset's folder. User "" is the operator; others may
// delete what they uploaded, and the semantic model of the dataset that they made.
func (c *Catalog) Discard(ctx context.Context, dataset, file, user string) error {
	missing := fault.New(fault.NotFound, "dataset %q has no file %q", truncate(dataset, 80), truncate(file, 80))
	if name, err := uploadName(file); (err != nil || name != file) && !isMeaning(file) {
		return missing
	}
	dir, err := c.folderOf(ctx, dataset, false, user)
	if err != nil {
		return err
	}
	if err := c.owners.check(dir, file, dataset, user); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return notWritable(dataset, err)
	}
	defer root.Close()
	if info, err := root.Lstat(file); err != nil || info.IsDir() {
		return missing
	}
	if err := root.Remove(file); err != nil {
		return notWritable(dataset, err)
	}
	c.lookAgain()
	return nil
}

// receive writes the content under a hidden name, which no scan sees.
func (c *Catalog) receive(ctx context.Context, root *os.Root, part string, content io.Reader) (int64, error) {
	f, err := root.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, fmt.Errorf("making a file for an upload: %w", err)
	}
	n, err := io.Copy(f, io.LimitReader(content, c.config.MaxFile+1))
	if err = errors.Join(err, f.Close(), ctx.Err()); err != nil {
		return n, fmt.Errorf("receiving a file: %w", err)
	}
	switch {
	case n > c.config.MaxFile:
		return n, fault.New(fault.TooLarge, "the file is larger than %d MB", c.config.MaxFile>>20)
	case n == 0:
		return n, fault.New(fault.BadRequest, "the file is empty")
	}
	return n, nil
}

// renameUpload gives a whole file its name; without replace an existing one stays.
func renameUpload(root *os.Root, part, name string, replace bool) error {
	if replace {
		return root.Rename(part, name)
	}
	return root.Link(part, name)
}

// folderOf gives the folder of a dataset that lies in a data folder.
func (c *Catalog) folderOf(ctx context.Context, id string, create bool, user string) (string, error) {
	d, err := c.find(ctx, id)
	if fault.Is(err, fault.DatasetNotFound) && create {
		return c.newFolder(id, user, err)
	}
	if err != nil {
		return "", err
	}
	if d.connection != nil || d.dir == "" || !c.belowRoots(d.dir) {
		return "", fault.New(fault.BadRequest, "dataset %q is not a folder of files", id).Suggest("Files can be put only into datasets that lie in a data folder.")
	}
	return d.dir, registered(d.dir, id)
}

// registered refuses a folder whose files a registry lists.
func registered(dir, id string) error {
	for _, name := range []string{"registry.json", "registry.yaml", "registry.yml"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fault.New(fault.BadRequest, "the files of dataset %q are listed in its registry", id).Suggest("Change the registry in the folder itself.")
		}
	}
	return nil
}

// newFolder makes the folder of a new dataset in the first data folder.
func (c *Catalog) newFolder(id, user string, missing error) (string, error) {
	i := slices.IndexFunc(c.config.Roots, func(root string) bool {
		info, err := os.Stat(root)
		return err == nil && info.IsDir()
	})
	if i < 0 {
		return "", fault.New(fault.BadRequest, "there is no data folder in which dataset %q could be made", truncate(id, 80)).
			Suggest("Name one that exists with --data when the program is started.")
	}
	dir := c.config.Roots[i]
	if err := registered(dir, id); err != nil {
		return "", err
	}
	if id == "default" { // the loose files
		return dir, nil
	}
	if datasetID(id) != id || hidden(id) {
		return "", fault.New(fault.BadRequest, "%q cannot be the id of a dataset", truncate(id, 80)).Suggest("Use letters, digits, _ and -, at most %d of them.", maxName)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", notWritable(id, err)
	}
	defer root.Close()
	made := filepath.Join(resolve(dir), id)
	if c.private.contains(made) {
		return "", missing
	}
	err = root.Mkdir(id, 0o755)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", notWritable(id, err)
	}
	if err == nil {
		if err := c.owners.recordFolder(made, user); err != nil {
			return "", err
		}
	}
	if info, err := root.Stat(id); err != nil || !info.IsDir() { // a link that leads out is an error here
		return "", missing
	}
	return made, nil
}

func (c *Catalog) belowRoots(dir string) bool {
	return slices.ContainsFunc(c.config.Roots, func(root string) bool {
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			return false
		}
		rel, err := filepath.Rel(real, dir)
		return err == nil && filepath.IsLocal(rel)
	})
}

// uploadName makes a plain name of what a client sent, or says why it cannot be.
func uploadName(given string) (string, error) {
	name := strings.ToValidUTF8(given, "_")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return -1
		case strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.Trim(name, " ."), ". ")
	switch {
	case name == "" || len(name) > maxUploadName || hidden(name):
		return "", fault.New(fault.BadRequest, "%q cannot be the name of a file", truncate(given, 80)).Suggest("Use a plain name of at most %d bytes.", maxUploadName)
	case !slices.Contains(uploadKinds, kindOf(name)):
		return "", fault.New(fault.BadRequest, "%q is no file of data that can be uploaded", truncate(name, 80)).
			Suggest("Upload CSV, TSV, JSON, NDJSON, Parquet, Excel or .duckdb files; the first four also as .gz or .zst.")
	}
	return name, nil
}

// lookAgain makes the next question see what changed.
func (c *Catalog) lookAgain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scanned = time.Time{}
}

func nameTaken(dataset, name string) error {
	return fault.New(fault.Conflict, "dataset %q has a file %q already", truncate(dataset, 80), name).Suggest("Upload it with replace=true, or under another name.")
}

func notWritable(dataset string, cause error) error {
	return fault.Wrap(cause, fault.Forbidden, "the folder of dataset %q cannot be changed: %s", truncate(dataset, 80), errorReason(cause)).
		Suggest("Give the user that runs Interlock the right to write there.")
}
