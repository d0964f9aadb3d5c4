package demo_test

import (
	"fmt"
	"os"
	"strings"

	"interlock/internal/demo"
)

func ExampleWrite() {
	dir, err := os.MkdirTemp("", "demo-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := demo.Write(dir, demo.Options{Scale: 0.1})
	if err != nil {
		panic(err)
	}
	for _, f := range s.Files {
		if f.Table != "" && strings.HasPrefix(f.Path, "support/") {
			fmt.Println(f.Table, "in", f.Path)
		}
	}
	// Output:
	// agents in support/agents.csv
	// customers in support/customers.csv
	// messages in support/messages.ndjson
	// satisfaction in support/satisfaction.json
	// tickets in support/tickets.csv
}
