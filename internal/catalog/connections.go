package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// A Connection is a database, file or folder that was added by hand. It becomes a
// dataset whose id is its alias.
type Connection struct {
	Alias       string   `yaml:"alias" json:"alias"`
	URL         string   `yaml:"url" json:"url"` // never with a password
	Schema      string   `yaml:"schema,omitempty" json:"schema,omitempty"`
	Tables      []string `yaml:"tables,omitempty" json:"tables,omitempty"` // none means all
	Description string   `yaml:"description,omitempty" json:"description,omitempty"`
	// Remote leaves the rows where they are: statements run there, in its dialect.
	Remote bool `yaml:"remote,omitempty" json:"remote,omitempty"`
	// AllowOwner lets them run as a role that could do more than read.
	AllowOwner bool `yaml:"allow_owner,omitempty" json:"allow_owner,omitempty"`
	// MaxAge is how old a copy may be, such as 1h; "" is the catalog's.
	MaxAge string `yaml:"max_age,omitempty" json:"max_age,omitempty"`
}

type connectionFile struct {
	Sources []Connection `yaml:"sources"`
}

func (c *Catalog) connectionPath() string { return filepath.Join(c.config.State, "sources.yaml") }
func (c *Catalog) secretPath() string     { return filepath.Join(c.config.State, "secrets.json") }

// connections reads sources.yaml.
func (c *Catalog) connections() ([]Connection, []schema.Problem) {
	text, err := readRegular(c.connectionPath(), maxRegistry)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var doc connectionFile
	if err == nil {
		err = readYAML(text, &doc)
	}
	if err != nil {
		return nil, []schema.Problem{{Path: "sources.yaml", Message: "It cannot be read: " + truncate(errorReason(err), 300)}}
	}
	var problems []schema.Problem
	kept := slices.DeleteFunc(doc.Sources, func(conn Connection) bool {
		if conn.Alias == "" || datasetID(conn.Alias) != conn.Alias || conn.URL == "" {
			problems = append(problems, schema.Problem{Path: "sources.yaml", Message: fmt.Sprintf("The source %q needs an alias of letters, digits, dots, dashes and underscores, and a url.", truncate(conn.Alias, 60))})
			return true
		}
		return false
	})
	return kept, problems
}

// Add adds a database by its URL, or a file or folder by its path. The password,
// also one inside the URL, goes into a file of its own that only this user can read.
// A database must answer first.
func (c *Catalog) Add(ctx context.Context, conn Connection, password source.Secret) error {
	if datasetID(conn.Alias) != conn.Alias {
		return fault.New(fault.BadRequest, "the alias %q is not one", truncate(conn.Alias, 60)).Suggest("Use letters, digits, dots, dashes and underscores, for example %q.", datasetID(conn.Alias))
	}
	if _, err := conn.parseMaxAge(0); err != nil {
		return err
	}
	if err := c.checkLocal(conn.URL); err != nil {
		return err
	}
	if source.Scheme(conn.URL) == "file" {
		path, err := filepath.Abs(localPath(conn.URL))
		var info os.FileInfo
		if err == nil {
			info, err = os.Stat(path)
		}
		if err != nil {
			return fault.Wrap(err, fault.SourceUnreadable, "there is no file or folder %s", conn.URL)
		}
		if !info.IsDir() && !info.Mode().IsRegular() {
			return notAFile(conn.URL)
		}
		conn.URL = path
	} else if err := regularOrMissing(localPath(conn.URL)); err != nil {
		return err
	} else {
		bare, inside, err := source.SplitURL(conn.URL)
		if err != nil {
			return err
		}
		conn.URL = bare
		if password.IsZero() {
			password = inside
		}
		if _, err := source.Tables(ctx, source.Config{URL: bare, Password: password, Schema: conn.Schema, SQLite: c.sqlite}); err != nil {
			return err
		}
	}
	if err := conn.checkRemote(ctx, password); err != nil {
		return err
	}
	found, err := c.scan(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(found, func(d *dataset) bool { return strings.EqualFold(d.id, conn.Alias) }) {
		return fault.New(fault.BadRequest, "there is a dataset %q already", conn.Alias).Suggest("Choose another alias.")
	}
	return c.changeConnections(func(all []Connection, secrets map[string]string) []Connection {
		if !password.IsZero() {
			secrets[conn.Alias] = password.Reveal()
		}
		return append(all, conn)
	})
}

// regularOrMissing refuses a pipe or a device as a database file.
func regularOrMissing(path string) error {
	if info, err := os.Stat(path); path != "" && err == nil && !info.Mode().IsRegular() {
		return notAFile(path)
	}
	return nil
}

func notAFile(path string) error {
	return fault.New(fault.SourceUnreadable, "%s is neither a file nor a folder", filepath.Base(path))
}

// Remove takes out what Add added; what lies in a data folder is removed there.
func (c *Catalog) Remove(_ context.Context, alias string) error {
	missing := true
	c.hangUp(alias)
	err := c.changeConnections(func(all []Connection, secrets map[string]string) []Connection {
		delete(secrets, alias)
		return slices.DeleteFunc(all, func(conn Connection) bool {
			missing = missing && conn.Alias != alias
			return conn.Alias == alias
		})
	})
	if err == nil && missing {
		return fault.New(fault.SourceNotRegistered, "no source %q was added", truncate(alias, 60))
	}
	c.dropCopies(alias) // who adds it again reads it anew
	return err
}

// changeConnections rewrites both files: secrets first when one is added, so that
// no connection is ever without.
func (c *Catalog) changeConnections(change func([]Connection, map[string]string) []Connection) error {
	c.scanning.Lock()
	defer c.scanning.Unlock()
	all, problems := c.connections()
	if len(problems) > 0 {
		return fault.New(fault.SourceUnreadable, "sources.yaml: %s", problems[0].Message).Suggest("Correct it by hand first.")
	}
	secrets, err := c.secrets()
	if err != nil {
		return err
	}
	all = change(all, secrets)
	text, err := json.Marshal(secrets)
	if err == nil {
		err = writeFile(c.secretPath(), text, 0o600)
	}
	if err == nil {
		if text, err = yaml.Marshal(connectionFile{all}); err == nil {
			err = writeFile(c.connectionPath(), text, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("writing sources.yaml: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scanned = c.scanned.Add(-c.config.Rescan) // look again
	return nil
}

func (c *Catalog) secrets() (map[string]string, error) {
	secrets := map[string]string{}
	text, err := readRegular(c.secretPath(), maxRegistry)
	if errors.Is(err, os.ErrNotExist) {
		return secrets, nil
	}
	if err == nil && json.Unmarshal(text, &secrets) != nil {
		err = errors.New("it is not JSON") // whose error might repeat a password
	}
	if err != nil {
		return nil, fmt.Errorf("reading the passwords: %w", err)
	}
	return secrets, nil
}

// config is how a connection is opened.
func (c *Catalog) configOf(conn *Connection) (source.Config, error) {
	secrets, err := c.secrets()
	if err != nil {
		return source.Config{}, err
	}
	return source.Config{URL: conn.URL, Name: fmt.Sprintf("the source %q", conn.Alias), Schema: conn.Schema, Password: source.NewSecret(secrets[conn.Alias]), Timeout: importTimeout, AllowOwner: conn.AllowOwner, SQLite: c.sqlite}, nil
}

// connection makes a dataset of a connection: a database, or a path like any other.
func (s *scanner) connection(conn Connection) {
	if path := localPath(conn.URL); path != "" && s.private.contains(path) {
		s.add(&dataset{id: conn.Alias, name: conn.Alias, kind: "files", problems: []schema.Problem{{Path: conn.Alias, Message: isPrivate}}})
		return
	}
	if source.Scheme(conn.URL) != "file" {
		d := &dataset{id: conn.Alias, name: conn.Alias, description: conn.Description, kind: source.Scheme(conn.URL), connection: &conn}
		if conn.Remote && conn.AllowOwner {
			d.problems = []schema.Problem{{Path: conn.Alias, Message: "It was added with --allow-owner: statements may run with rights beyond reading, and the policy is the only wall before them."}}
		}
		s.add(d)
		return
	}
	d := &dataset{id: conn.Alias, name: conn.Alias, description: conn.Description, kind: "files"}
	real, err := filepath.EvalSymlinks(conn.URL)
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(real)
	}
	switch {
	case err != nil:
		d.problems = []schema.Problem{{Path: conn.Alias, Message: "It cannot be read: " + errorReason(err) + "."}}
	case info.IsDir():
		d.dir = real
		(&folder{scanner: s, root: real, dataset: d, names: namer{}}).addFolder(real)
	default:
		(&folder{scanner: s, root: filepath.Dir(real), dataset: d, names: namer{}}).addRootFile(filepath.Base(real))
	}
	s.add(d)
}
