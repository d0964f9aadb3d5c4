package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"interlock/internal/data"
	"interlock/internal/sandbox"
	"interlock/internal/server"
	"interlock/internal/toolbox"
)

// sandboxConfig reads the sandbox's settings.
func (s *system) sandboxConfig(c config) (sandbox.Config, error) {
	var level sandbox.Level
	if err := level.UnmarshalText([]byte(c.PythonLevel)); err != nil {
		return sandbox.Config{}, err
	}
	return sandbox.Config{
		Disabled: !c.Python, Executor: c.PythonExecutor, MinLevel: level, AllowDegraded: level <= sandbox.LevelSyscalls, Python: c.PythonPath,
		Timeout: c.PythonTimeout, MemoryMB: c.PythonMemory, CPUs: c.PythonCPUs, Rows: c.PythonRows, OutputBytes: c.PythonOutput, Pool: c.PythonPool,
		AllowImports: c.PythonImports, Image: c.PythonImage, Runtime: c.PythonRuntime, ServerURL: c.PythonURL, Key: os.Getenv("INTERLOCK_PYTHON_KEY"), Namespace: c.PythonSpace,
		Dir: s.stateDir(c, "sandbox"), Log: s.log,
	}, nil
}

// openPython starts the sandbox; nil where Python is switched off.
func (s *system) openPython(c config, results toolbox.Results) (toolbox.Python, error) {
	if !c.Python {
		return nil, nil
	}
	cfg, err := s.sandboxConfig(c)
	if err != nil {
		return nil, err
	}
	if s.sandbox, err = sandbox.Open(cfg); err != nil {
		return nil, err
	}
	s.onClose(s.sandbox.Close)
	return data.NewPython(data.PythonConfig{
		Catalog: s.catalog, Query: s.query, Executor: s.sandbox, Artifacts: s.artifacts, Results: results, Dir: s.stateDir(c, "frames"),
	})
}

func (s *system) pythonPart() server.Part {
	if s.sandbox == nil {
		return server.Part{Name: "python", Status: "degraded", Detail: "switched off"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	st := s.sandbox.Status(ctx)
	p := server.Part{Name: "python", Status: "ok", Detail: fmt.Sprintf("%s, %s, isolation: %s", st.State, st.Executor, st.Level)}
	switch st.State {
	case "ready":
	case "idle":
		p.Detail = fmt.Sprintf("%s, starts with the first run", st.Executor)
	default:
		p.Status = "degraded"
	}
	if st.Why != "" {
		p.Detail = st.Why
	}
	return p
}
