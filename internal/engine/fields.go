package engine

import (
	"fmt"
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
	for name, v := range given {
		i := slices.IndexFunc(m.Settings, func(s *machine.Setting) bool { return s.Name == name })
		if i < 0 {
			return nil, fault.New(fault.BadSetting, "the machine %s has no setting %q", m.Name, name)
		}
		s := m.Settings[i]
		fit, err := machine.Conform(s.Type, v)
		if err != nil || fit == nil {
			return nil, fault.New(fault.BadSetting, "setting %s of %s: %v", name, m.Name, errorTextOr(err, "a value is needed"))
		}
		if n, isNumber := fit.(float64); isNumber && (s.Min != nil && n < *s.Min || s.Max != nil && n > *s.Max) {
			return nil, fault.New(fault.BadSetting, "setting %s of %s must lie between %s and %s, not %v", name, m.Name, boundText(s.Min), boundText(s.Max), n)
		}
		out[name] = fit
	}
	return out, nil
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
