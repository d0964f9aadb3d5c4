package main

import (
	"strings"
	"testing"

	"interlock/web/e2e"
)

// TestDataInBrowser drives the data side of the page in Chromium, on the whole program:
// files are dropped, asked, paged, exported and deleted.
func TestDataInBrowser(t *testing.T) {
	w := newWorld(t, map[string]string{
		"data/broken/good.csv":    "id,city\n1,Bern\n2,Basel\n",
		"data/broken/bad.parquet": "this is not Parquet",
	})
	var long strings.Builder
	long.WriteString("id,status,total\n")
	for i := range 300 {
		long.WriteString([]string{"1,paid,10\n", "2,open,20.5\n", "3,paid,7\n"}[i%3])
	}
	w.write("data/many/lines.csv", long.String())
	w.flags = append(w.flags, "--provider", "offline")
	e2e.Run(t, w.serve().url, "data.test.js", "DATA="+w.path("data"), "STATE="+w.path("state"))
}
