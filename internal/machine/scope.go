package machine

// A Scope is what a guard can see at one moment. Values are plain JSON values
// (nil, bool, numbers, string, []any, map[string]any) and are never changed.
type Scope struct {
	Facts    map[string]any // stored facts; computed ones are worked out from them
	Settings map[string]any
	Event    map[string]any
	Turn     map[string]any
	State    map[string]any
	Visits   map[string]int
	Item     any    // `#` of a keep predicate
	Trace    *Trace // notes the moves that are looked at, nil for none
}

// A frame is one evaluation: the scope, the items of the predicates being run, the
// computed facts worked out so far, and the fuel that bounds the work.
type frame struct {
	scope *Scope
	items []any
	memo  map[*Fact]any
	depth int
	fuel  int
}

const (
	maxFuel  = 1_000_000 // list items looked at in one evaluation
	maxDepth = 64        // computed facts inside computed facts
)

// useFuel takes fuel and reports whether there was enough.
func (f *frame) useFuel(n int) bool {
	f.fuel -= n
	return f.fuel >= 0
}

// factValue returns a fact's value, worked out once where it is computed.
func (f *frame) factValue(x *Fact) any {
	if x.Is == nil {
		return plainNumber(f.scope.Facts[x.Name])
	}
	if v, ok := f.memo[x]; ok {
		return v
	}
	if f.depth >= maxDepth || x.Is.code == nil {
		return nil
	}
	f.depth++
	items := f.items
	f.items = nil
	v := x.Is.code.run(f)
	f.items = items
	f.depth--
	if f.memo == nil {
		f.memo = make(map[*Fact]any)
	}
	f.memo[x] = v
	return v
}
