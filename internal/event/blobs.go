package event

import "encoding/json"

// Blobs returns the large values of a body that have their bytes. They are stored in the
// same batch as the event.
func Blobs(b Body) []Value {
	var out []Value
	_, _ = mapValues(b, func(v Value) (Value, error) {
		if v.Hash != "" && v.JSON != nil {
			out = append(out, v)
		}
		return v, nil
	})
	return out
}

// Resolve returns the body with the bytes of its large values, which fetch loads.
func Resolve(b Body, fetch func(hash string) (json.RawMessage, error)) (Body, error) {
	return mapValues(b, func(v Value) (Value, error) {
		if v.Resolved() {
			return v, nil
		}
		raw, err := fetch(v.Hash)
		return Value{Hash: v.Hash, JSON: raw}, err
	})
}

// WithoutBytes returns the body with only the hashes of its large values.
func WithoutBytes(b Body) Body {
	b, _ = mapValues(b, func(v Value) (Value, error) {
		if v.Hash != "" {
			v.JSON = nil
		}
		return v, nil
	})
	return b
}

// Inline returns a resolved body whose values are encoded whole. It is for clients, which
// cannot load blobs.
func Inline(b Body) Body {
	b, _ = mapValues(b, func(v Value) (Value, error) { return v.Inline(), nil })
	return b
}

// mapValues returns a copy of the body in which f has replaced every value.
func mapValues(b Body, f func(Value) (Value, error)) (Body, error) {
	var failed error
	do := func(v *Value) {
		if v.IsZero() || failed != nil {
			return
		}
		var err error
		if *v, err = f(*v); err != nil {
			failed = err
		}
	}
	switch e := b.(type) {
	case FactsChanged:
		set := make(map[string]Value, len(e.Set))
		for k, v := range e.Set {
			do(&v)
			set[k] = v
		}
		if e.Set != nil {
			e.Set = set
		}
		b = e
	case PersonCalled:
		do(&e.Args)
		b = e
	case ModelReplied:
		calls := make([]ModelCall, len(e.Calls))
		for i, c := range e.Calls {
			do(&c.Args)
			calls[i] = c
		}
		if e.Calls != nil {
			e.Calls = calls
		}
		b = e
	case ToolStarted:
		do(&e.Args)
		do(&e.Shown)
		b = e
	case ToolReturned:
		do(&e.Args)
		do(&e.Result)
		b = e
	case ToolFailed:
		do(&e.Args)
		do(&e.Details)
		b = e
	case ToolRefused:
		do(&e.Args)
		b = e
	case CardRaised:
		do(&e.Content)
		b = e
	case TurnEnded:
		do(&e.Reply)
		b = e
	}
	return b, failed
}
