package main

import (
	"context"

	"interlock/internal/server"
	"interlock/internal/toolbox"
)

// openPython gives the sandbox as the tools see it, nil where it is off.
func (s *system) openPython(context.Context, config) (toolbox.Python, error) { return nil, nil }

func (s *system) pythonPart() server.Part {
	return server.Part{Name: "python", Status: "degraded", Detail: "off"}
}
