package main

import (
	"context"
	"errors"

	"interlock/internal/engine"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
	"interlock/machines"
)

// openForReading opens the system for a command that only reads. In a state folder that this
// user cannot write it has the log and an engine over it, and nothing else.
func (a *app) openForReading(ctx context.Context) (*system, error) {
	s, err := a.openSystem(ctx)
	if !errors.Is(err, store.ErrNotWritable) {
		return s, err
	}
	s = &system{log: a.logger(), state: a.cfg.State}
	if s.store, err = a.openStore(); err != nil {
		return nil, err
	}
	s.onClose(s.store.Close)
	s.tools = tool.NewSet(nil, toolbox.Tools(toolbox.Config{})...)
	library := machine.Open(machine.LibraryConfig{Shipped: machines.All()})
	if s.engine, err = engine.New(engine.Config{Store: s.store, Machines: library, Models: noModels{}, Tools: s.tools, Log: s.log}); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.onClose(s.engine.Close)
	return s, nil
}

// noModels is the models of an engine that runs no turn.
type noModels struct{}

func (noModels) Model(string) (llm.Model, error) {
	return nil, fault.New(fault.StoreFailed, "no turn can run here: the state folder cannot be written")
}
