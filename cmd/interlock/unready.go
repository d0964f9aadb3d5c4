package main

import (
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/toolbox"
)

// unreadyReason says why a machine cannot do all that it declares, and what to do: this build
// lacks tools of it, or a state names a model that cannot be asked here. The other
// machines work all the same.
func (m *models) unreadyReason(def *machine.Machine) []*fault.Fault {
	var out []*fault.Fault
	if missing := missingTools(def); len(missing) > 0 {
		out = append(out, fault.New(fault.Unavailable, "this build lacks %s", strings.Join(missing, ", ")).
			Suggest("Use a machine that does without; `interlock machine list` says which are complete."))
	}
	checked := map[string]bool{"": true}
	for _, st := range def.States {
		if checked[st.Model] {
			continue
		}
		checked[st.Model] = true
		if _, err := m.Model(st.Model); err != nil {
			f := fault.From(err)
			out = append(out, fault.Wrap(err, f.Code, "state %s of %s asks the model %s: %s", st.Name, def.Name, st.Model, f.Message).Suggest("%s", f.Suggestion))
		}
	}
	return out
}

// joinReasons joins the messages of faults to one line.
func joinReasons(faults []*fault.Fault) string {
	messages := make([]string, len(faults))
	for i, f := range faults {
		messages[i] = f.Message
	}
	return strings.Join(messages, "; ")
}

// missingTools lists the tools of a machine that this build only declares.
func missingTools(m *machine.Machine) []string {
	undone := toolbox.Undone()
	var out []string
	add := func(name string) {
		if slices.Contains(undone, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, d := range m.Discover {
		add(d.Tool)
	}
	for _, st := range m.States {
		for _, o := range st.Offers {
			add(o.Tool)
		}
		for _, alt := range st.Run {
			for _, sp := range alt.Steps {
				add(sp.Tool)
			}
		}
	}
	slices.Sort(out)
	return out
}
