// Package web is the page. Folder app holds its source, which make builds into dist.
// The page makes no request to another host.
package web

import (
	"embed"
	"io/fs"
)

// dist holds a placeholder alone where nobody has built the page, so that Go builds
// without Node.
//
//go:embed all:dist
var dist embed.FS

// Files holds index.html and the files it loads, or neither where this binary was built
// without Node.
func Files() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("web: " + err.Error()) // the folder is part of the binary
	}
	return sub
}
