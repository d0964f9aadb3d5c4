package sqlpolicy

import "strconv"

// parameterMap checks the list in which the engine says which value each parameter
// takes: the parameter n takes value n.
func (w *walker) parameterMap(n *node, outermost bool) error {
	if len(n.kids) == 0 {
		return nil
	}
	if n.kind != '[' || len(n.kids) != w.scope.Params || !outermost {
		return w.otherParameters()
	}
	for p := range n.elements() {
		if key := p.str("key"); len(p.kids) != 2 || !w.hasParameter(key) || p.get("value").text != key {
			return w.otherParameters()
		}
	}
	return nil
}

// parameter admits a place for a value. A pattern for names of columns is none: what
// the statement reads would depend on the value.
func (w *walker) parameter(n *node) error {
	name := n.str("identifier")
	if !w.hasParameter(name) {
		return w.otherParameters()
	}
	if w.stars > 0 {
		return deny(RuleParameter, n.location(), "Name the columns.", "A parameter cannot choose columns.")
	}
	w.params[name] = true
	return nil
}

// hasParameter says whether a value comes with the statement for this name.
func (w *walker) hasParameter(name string) bool {
	i, err := strconv.Atoi(name)
	return err == nil && i >= 1 && i <= w.scope.Params && strconv.Itoa(i) == name
}

func (w *walker) otherParameters() error { return otherParameters(w.scope.Params, -1) }
