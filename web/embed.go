// Package web is the page: plain files, served as they are. It needs no build
// step and makes no request to another host.
package web

import (
	"embed"
	"io/fs"
)

//go:embed static
var static embed.FS

// Files holds index.html and the files it loads.
func Files() fs.FS {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic("web: " + err.Error()) // the folder is part of the binary
	}
	return files
}
