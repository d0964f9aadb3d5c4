package server

import (
	"context"
	"slices"

	"interlock/internal/fault"
	"interlock/internal/machine"
)

type machineList struct {
	Machines []MachineLine    `json:"machines"`
	Broken   []machine.Report `json:"broken" doc:"Definitions that did not load, and why"`
}

// A MachineLine is a machine in a list. huma reads an embedded struct only if it is exported.
type MachineLine struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
	Default bool   `json:"default,omitempty"`
	// Unready is absent where the machine can do all of its work.
	Unready []*fault.Fault `json:"unready,omitempty" doc:"Why the machine cannot do all of its work here, and what to do about each"`
}

func (s *Server) line(m *machine.Machine) MachineLine {
	l := MachineLine{Name: m.Name, Title: m.Title, Version: m.Hash, Default: m.Name == s.cfg.Machine}
	if s.cfg.Unready != nil {
		l.Unready = s.cfg.Unready(m)
	}
	return l
}

func (s *Server) machines(context.Context, *none) (machineList, error) {
	out := machineList{[]MachineLine{}, orEmpty(s.cfg.Machines.Broken())}
	for _, m := range s.cfg.Machines.List() {
		out.Machines = append(out.Machines, s.line(m))
	}
	return out, nil
}

// A machineView is what a client needs to know of a definition.
type machineView struct {
	MachineLine
	Settings  []settingView `json:"settings"`
	States    []stateView   `json:"states"`
	Moves     []moveView    `json:"moves" doc:"How it gets from state to state, in the order in which they are tried"`
	Commands  []commandLine `json:"commands"`
	Shortcuts []string      `json:"shortcuts" doc:"Prefixes of messages that run without a model"`
	Graph     graphView     `json:"graph"`
}

type settingView struct {
	Name    string   `json:"name"`
	Label   string   `json:"label"`
	Type    string   `json:"type"`
	Values  []string `json:"values,omitempty" doc:"Of an enum"`
	Default any      `json:"default"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Step    *float64 `json:"step,omitempty"`
}

type stateView struct {
	Name     string            `json:"name"`
	Kind     machine.StateKind `json:"kind"`
	Terminal bool              `json:"terminal,omitempty"`
	Requires []string          `json:"requires"`
	Tools    []string          `json:"tools"`
	Card     string            `json:"card,omitempty"`
	To       []string          `json:"to" doc:"States it leads to"`
}

// A moveView is a transition, or a choice of the start.
type moveView struct {
	From []string `json:"from" doc:"States; empty with any, and for the start"`
	Any  bool     `json:"any,omitempty" doc:"From every state"`
	To   []string `json:"to"`
	On   []string `json:"on" doc:"The events, tools, cards and commands that make it be tried"`
	When string   `json:"when,omitempty" doc:"The guard"`
}

type commandLine struct {
	Name   string            `json:"name"`
	Label  string            `json:"label"`
	Fields map[string]string `json:"fields"`
}

type graphView struct {
	Mermaid string `json:"mermaid,omitempty"`
	SVG     string `json:"svg,omitempty"`
}

func (s *Server) machine(_ context.Context, in *struct {
	Name string `path:"name" maxLength:"200"`
},
) (machineView, error) {
	m, err := s.cfg.Machines.Get(in.Name)
	if err != nil {
		return machineView{}, err
	}
	out := machineView{
		MachineLine: s.line(m),
		Settings:    []settingView{}, States: []stateView{}, Commands: []commandLine{}, Shortcuts: []string{},
	}
	for _, set := range m.Settings {
		v := settingView{Name: set.Name, Label: set.Label, Default: set.Default, Min: set.Min, Max: set.Max, Step: set.Step}
		if set.Type != nil {
			v.Type, v.Values = typeName(set.Type), set.Type.Values
		}
		out.Settings = append(out.Settings, v)
	}
	for _, st := range m.States {
		out.States = append(out.States, viewState(m, st))
	}
	out.Moves = movesOf(m)
	for _, c := range m.Commands {
		v := commandLine{Name: c.Name, Label: c.Label, Fields: map[string]string{}}
		for _, f := range c.Fields {
			v.Fields[f.Name] = typeName(f.Type)
		}
		out.Commands = append(out.Commands, v)
	}
	for _, sc := range m.Short {
		if sc.Tool != "" {
			out.Shortcuts = append(out.Shortcuts, sc.Prefix)
		}
	}
	out.Graph.Mermaid = m.Mermaid()
	out.Graph.SVG, err = m.SVG()
	return out, err
}

func viewState(m *machine.Machine, st *machine.State) stateView {
	v := stateView{Name: st.Name, Kind: st.Kind, Terminal: st.Terminal, Card: st.Card, Requires: []string{}, Tools: []string{}, To: []string{}}
	for _, p := range st.Requires {
		v.Requires = append(v.Requires, p.Source)
	}
	for _, o := range st.Offers {
		if o.Tool != "" {
			v.Tools = append(v.Tools, o.Tool)
		}
	}
	shared := slices.DeleteFunc(slices.Clone(m.Go), func(t *machine.Transition) bool {
		return !t.Any && !slices.Contains(t.From, st.Name)
	})
	for _, t := range slices.Concat(st.Go, shared) {
		for _, to := range t.To {
			if !slices.Contains(v.To, to) {
				v.To = append(v.To, to)
			}
		}
	}
	return v
}

// movesOf lists the choices of the start, the transitions of each state and the shared ones.
func movesOf(m *machine.Machine) []moveView {
	var out []moveView
	for _, c := range m.Start.Choices {
		out = append(out, moveView{From: []string{}, To: []string{c.To}, On: []string{"start"}, When: guardText(c.When)})
	}
	add := func(t *machine.Transition, from []string) {
		out = append(out, moveView{
			From: orEmpty(from), Any: t.Any, To: orEmpty(t.To), When: guardText(t.When),
			On: orEmpty(slices.Concat(t.On, t.Tool, t.Card, t.Command)),
		})
	}
	for _, st := range m.States {
		for _, t := range st.Go {
			add(t, []string{st.Name})
		}
	}
	for _, t := range m.Go {
		add(t, t.From)
	}
	return orEmpty(out)
}

// guardText is the source of a guard; "" for none.
func guardText(e *machine.Expr) string {
	if e == nil {
		return ""
	}
	return e.Source
}

// typeName writes a type as definitions do.
func typeName(t *machine.Type) string {
	switch {
	case t == nil:
		return string(machine.JSON)
	case t.Name != "":
		return t.Name
	case t.Kind == machine.List:
		return "list(" + typeName(t.Of) + ")"
	}
	return string(t.Kind)
}
