// Package web is the page. Folder app holds its source, which make builds into dist;
// folder static holds the older page without a build step. Neither makes a request to
// another host.
package web

import (
	"embed"
	"io/fs"
)

//go:embed static
var static embed.FS

// dist holds a placeholder alone where nobody has built the page, so that Go builds
// without Node.
//
//go:embed all:dist
var dist embed.FS

// Files holds index.html and the files it loads.
func Files() fs.FS { return folder(static, "static") }

// App holds the built page: index.html and the files it loads, or neither where this
// binary was built without Node.
func App() fs.FS { return folder(dist, "dist") }

func folder(files embed.FS, name string) fs.FS {
	sub, err := fs.Sub(files, name)
	if err != nil {
		panic("web: " + err.Error()) // the folder is part of the binary
	}
	return sub
}
