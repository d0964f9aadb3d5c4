package machine

// ReplyAt works out what `reply` says at the end of a turn. Failure is `event.error`: a
// type and a message, or nil. Expressions that cannot be worked out are left out.
func (m *Machine) ReplyAt(s *Scope, failure map[string]any) map[string]any {
	end := *s
	end.Event = map[string]any{}
	if failure != nil {
		end.Event["error"] = failure
	}
	out := make(map[string]any, len(m.Reply))
	for _, a := range m.Reply {
		if v, err := m.Eval(a.Expr, &end); err == nil {
			out[a.Name] = v
		}
	}
	return out
}

// EmptyReply is what `reply` says of a turn in which nothing happened: the shape of the
// machine's replies.
func (m *Machine) EmptyReply(failure map[string]any) map[string]any {
	s := &Scope{Facts: m.Defaults(), Settings: make(map[string]any, len(m.Settings)), Turn: map[string]any{}}
	for _, set := range m.Settings {
		s.Settings[set.Name] = set.Default
	}
	return m.ReplyAt(s, failure)
}
