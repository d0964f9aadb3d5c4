package catalog

import (
	"context"

	"interlock/internal/fault"
	"interlock/internal/source"
)

// Remote opens a dataset that is a database as an engine of its own: whole
// statements run there and only results travel. The caller closes it.
func (c *Catalog) Remote(ctx context.Context, id string) (source.Remote, error) {
	d, err := c.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if d.connection == nil {
		return nil, fault.New(fault.BadRequest, "dataset %q is made of files and has no engine of its own", d.id).
			Suggest("Query it in the embedded engine.")
	}
	conf, err := c.configOf(d.connection)
	if err != nil {
		return nil, err
	}
	return source.Connect(ctx, conf)
}
