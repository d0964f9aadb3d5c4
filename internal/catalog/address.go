package catalog

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/source"
)

var notName = regexp.MustCompile(`[^a-z0-9_]+`)

// ParseConnection makes a connection of an address; the password is kept apart. Without
// an alias it is named by the address.
func ParseConnection(address, alias string) (Connection, source.Secret, error) {
	bare, secret, err := source.SplitURL(address)
	if err != nil {
		return Connection{}, source.Secret{}, err
	}
	if alias == "" {
		name := bare
		if u, err := url.Parse(bare); err == nil && u.Path != "" {
			name = path.Base(u.Path)
		} else if u != nil && u.Opaque != "" {
			name = path.Base(u.Opaque)
		}
		alias = strings.Trim(notName.ReplaceAllString(strings.ToLower(strings.TrimSuffix(name, path.Ext(name))), "_"), "_")
	}
	if alias == "" {
		return Connection{}, source.Secret{}, fault.New(fault.BadRequest, "the source needs a name").Suggest("Give one with --alias.")
	}
	return Connection{Alias: alias, URL: bare}, secret, nil
}
