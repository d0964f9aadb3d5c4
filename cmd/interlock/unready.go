package main

import (
	"strings"

	"interlock/internal/fault"
	"interlock/internal/machine"
)

// unreadyReason says why a machine cannot do all that it declares, and what to do: a state
// names a model that cannot be asked here. The other machines work all the same.
func (m *models) unreadyReason(def *machine.Machine) []*fault.Fault {
	var out []*fault.Fault
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
