package engine

import (
	"fmt"
	"maps"
	"slices"

	"interlock/internal/fault"
	"interlock/internal/machine"
)

// checkSettings converts settings to the types that the machine declares, and refuses
// those that it does not declare or that are out of range.
func checkSettings(m *machine.Machine, given map[string]any) (map[string]any, error) {
	if len(given) == 0 {
		return nil, nil
	}
	out := make(map[string]any, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(m.Settings, func(s *machine.Setting) bool { return s.Name == name })
		if i < 0 {
			return nil, unknownSetting(m, name)
		}
		s := m.Settings[i]
		fit, err := machine.Conform(s.Type, given[name])
		if err != nil || fit == nil {
			return nil, fault.New(fault.BadSetting, "setting %s of %s: %v", name, m.Name, errorTextOr(err, "a value is needed")).Suggest("%s", listSettings(m))
		}
		if n, isNumber := fit.(float64); isNumber && (s.Min != nil && n < *s.Min || s.Max != nil && n > *s.Max) {
			return nil, fault.New(fault.BadSetting, "setting %s of %s must lie between %s and %s, not %v", name, m.Name, boundText(s.Min), boundText(s.Max), n).Suggest("%s", listSettings(m))
		}
		out[name] = fit
	}
	return out, nil
}

// unknownSetting says that a machine lacks a setting, and names the nearest that it has.
func unknownSetting(m *machine.Machine, name string) *fault.Fault {
	f := fault.New(fault.BadSetting, "the machine %s has no setting %q", m.Name, name)
	if len(m.Settings) == 0 {
		return f.Suggest("It has no settings.")
	}
	names := make([]string, len(m.Settings))
	for i, s := range m.Settings {
		names[i] = s.Name
	}
	return f.Suggest("The nearest setting is %q. %s", fault.Nearest(name, names)[0], listSettings(m))
}

// listSettings is the advice where to look a machine's settings up.
func listSettings(m *machine.Machine) string {
	return fmt.Sprintf("`interlock machine settings %s` lists them with types and bounds.", m.Name)
}

// errorTextOr returns the text of an error, or another text if there is no error.
func errorTextOr(err error, text string) string {
	if err != nil {
		return err.Error()
	}
	return text
}

// boundText writes a bound of a setting for people.
func boundText(f *float64) string {
	if f == nil {
		return "any"
	}
	return fmt.Sprint(*f)
}

// fitFields converts values to the types of the fields that an answer or a command
// declares. Every declared field must be there, and no other.
func fitFields(decl []machine.Field, given map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(decl))
	for _, f := range decl {
		v, err := machine.Conform(f.Type, given[f.Name])
		if err != nil || v == nil {
			return nil, fault.New(fault.BadAnswer, "field %s: %s", f.Name, errorTextOr(err, "a value is needed"))
		}
		out[f.Name] = v
	}
	for name := range given {
		if _, known := out[name]; !known {
			return nil, fault.New(fault.BadAnswer, "there is no field %q", name)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}
