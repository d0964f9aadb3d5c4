package machine

import (
	"slices"
	"strings"
)

// kindNull is the type of `nil`; literalName marks types of things written out,
// whose values or fields are exactly known.
const (
	kindNull    Kind   = "null"
	literalName string = "literal"
)

var (
	anyType    = &Type{Kind: JSON}
	nullType   = &Type{Kind: kindNull}
	boolType   = &Type{Kind: Bool}
	intType    = &Type{Kind: Int}
	floatType  = &Type{Kind: Float}
	stringType = &Type{Kind: String}
	stringList = &Type{Kind: List, Of: stringType}
)

func literalText(s string) *Type {
	return &Type{Kind: Enum, Name: literalName, Values: []string{s}}
}

// String is a type as it is written in a definition.
func (t *Type) String() string {
	switch {
	case t == nil:
		return "json"
	case t.Name == literalName && t.Kind == Enum:
		return `"` + strings.Join(t.Values, `" or "`) + `"`
	case t.Name != "" && t.Name != literalName:
		return t.Name
	case t.Kind == List:
		return "list(" + t.Of.String() + ")"
	case t.Kind == Enum:
		return "{enum: [" + strings.Join(t.Values, ", ") + "]}"
	case t.Kind == Record:
		return "a record"
	}
	return string(t.Kind)
}

func isLoose(t *Type) bool   { return t == nil || t.Kind == JSON || t.Kind == kindNull }
func isNumeric(t *Type) bool { return t.Kind == Int || t.Kind == Float }
func isTextual(t *Type) bool { return t.Kind == String || t.Kind == Enum || t.Kind == Time }
func isLiteral(t *Type) bool { return t != nil && t.Name == literalName }

// unify is the type of a value that has one type or the other.
func unify(a, b *Type) *Type {
	switch {
	case a == nil || a.Kind == kindNull:
		return b
	case b == nil || b.Kind == kindNull || a == b:
		return a
	case a.Kind == JSON || b.Kind == JSON:
		return anyType
	case isNumeric(a) && isNumeric(b):
		if a.Kind == b.Kind {
			return a
		}
		return floatType
	case a.Kind == Enum && b.Kind == Enum:
		values := slices.Clone(a.Values)
		for _, v := range b.Values {
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		return &Type{Kind: Enum, Name: literalName, Values: values}
	case isTextual(a) && isTextual(b):
		return stringType
	case a.Kind == List && b.Kind == List:
		return &Type{Kind: List, Of: unify(a.Of, b.Of)}
	case a.Kind == Record && b.Kind == Record:
		t := &Type{Kind: Record, Fields: make(map[string]*Type)}
		for _, r := range []*Type{a, b} {
			for name, f := range r.Fields {
				if old := t.Fields[name]; old != nil {
					f = unify(old, f)
				}
				t.Fields[name] = f
			}
		}
		return t
	case a.Kind == b.Kind:
		return a
	}
	return anyType
}

// fitsInto reports whether a value of one type may be written where another is asked
// for; why says what does not fit.
func fitsInto(from, to *Type) (why string, ok bool) {
	switch {
	case isLoose(from) || to == nil || to.Kind == JSON:
		return "", true
	case from.Kind == Enum && to.Kind == Enum:
		for _, v := range from.Values {
			if !slices.Contains(to.Values, v) {
				return `"` + v + `" is none of ` + strings.Join(to.Values, ", "), false
			}
		}
		return "", true
	case isTextual(from) && isTextual(to):
		return "", true
	case from.Kind == Int && to.Kind == Float:
		return "", true
	case from.Kind != to.Kind:
		return from.String() + " does not fit " + to.String(), false
	case from.Kind == List:
		why, ok := fitsInto(from.Of, to.Of)
		if !ok {
			why = "an item: " + why
		}
		return why, ok
	case from.Kind == Record:
		return recordFits(from, to)
	}
	return "", true
}

func recordFits(from, to *Type) (string, bool) {
	if from == to {
		return "", true
	}
	names := make([]string, 0, len(from.Fields))
	for name := range from.Fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		want := to.Fields[name]
		if want == nil {
			if isLiteral(from) {
				return "the record has no field " + name, false
			}
			continue
		}
		if why, ok := fitsInto(from.Fields[name], want); !ok {
			return "field " + name + ": " + why, false
		}
	}
	return "", true
}

// mayEqual reports whether values of the two types can be equal at all.
func mayEqual(a, b *Type) bool {
	switch {
	case isLoose(a) || isLoose(b):
		return true
	case isNumeric(a) && isNumeric(b):
		return true
	case a.Kind == Enum && b.Kind == Enum:
		return slices.ContainsFunc(a.Values, func(v string) bool { return slices.Contains(b.Values, v) })
	case isTextual(a) && isTextual(b):
		return true
	case a.Kind == List && b.Kind == List:
		return mayEqual(a.Of, b.Of)
	}
	return a.Kind == b.Kind
}

// typeOfValue is the type of a plain value.
func typeOfValue(v any) *Type {
	switch v := v.(type) {
	case bool:
		return boolType
	case float64:
		if v == float64(int64(v)) {
			return intType
		}
		return floatType
	case string:
		return literalText(v)
	case []any:
		t := &Type{Kind: List, Of: nullType}
		for _, item := range v {
			t.Of = unify(t.Of, typeOfValue(item))
		}
		return t
	case map[string]any:
		t := &Type{Kind: Record, Name: literalName, Fields: make(map[string]*Type)}
		for name, f := range v {
			t.Fields[name] = typeOfValue(f)
		}
		return t
	}
	return nullType
}
