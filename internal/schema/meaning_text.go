package schema

import (
	"fmt"
	"strings"
	"unicode"
)

// Bounds of what a text of a semantic model takes of a prompt.
const (
	meaningLine = 400
	meaningList = 60 // metrics, terms, questions each
)

// Text writes a meaning for people and models: one line for each thing that is declared. It
// is the one rendering that prompts, descriptions and commands use.
func (m *Meaning) Text() string {
	if m == nil {
		return ""
	}
	var b strings.Builder
	line := func(format string, args ...any) {
		text := strings.Join(strings.FieldsFunc(fmt.Sprintf(format, args...), unicode.IsControl), " ")
		if len(text) > meaningLine {
			text = strings.ToValidUTF8(text[:meaningLine], "") + "…"
		}
		b.WriteString(text + "\n")
	}
	if m.Instructions != "" {
		line("Instructions: %s", m.Instructions)
	}
	if m.Today != "" {
		line("The data end on %s: `today` and `last month` are read from that day.", m.Today)
	}
	for _, x := range m.Metrics[:min(len(m.Metrics), meaningList)] {
		line("- metric `%s`%s = %s, of rows of %s%s", x.Name, also(x.Synonyms), x.Expression, x.Table, said(x.Description))
	}
	for _, t := range m.Tables {
		if t.MainDate != "" || len(t.Synonyms) > 0 || t.Instructions != "" {
			text := "- table `" + t.Table + "`" + also(t.Synonyms)
			if t.MainDate != "" {
				text += ", counted by `" + t.MainDate + "`"
			}
			line("%s%s", text, said(t.Instructions))
		}
		for _, f := range t.Fields {
			if text := f.facts(); text != "" {
				line("- column `%s.%s`%s", t.Table, f.Column, text)
			}
		}
	}
	for _, t := range m.Ambiguous[:min(len(m.Ambiguous), meaningList)] {
		line("- ask what %q means: %s", t.Term, strings.Join(t.Readings, "; or "))
	}
	for _, c := range m.Chosen[:min(len(m.Chosen), meaningList)] {
		line("- %s", c.Sentence())
	}
	for _, v := range m.Verified[:min(len(m.Verified), meaningList)] {
		line("- verified: %q is %s", v.Question, v.Plan)
	}
	return b.String()
}

func also(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", also called " + strings.Join(names, ", ")
}

func said(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// facts are what is declared of a column, beyond its name.
func (f FieldMeaning) facts() string {
	names := f.Synonyms
	if f.Label != "" {
		names = append([]string{f.Label}, names...)
	}
	text := also(names)
	if len(f.Unknown) > 0 {
		values := make([]string, len(f.Unknown))
		for i, v := range f.Unknown {
			values[i] = fmt.Sprint(v)
			if s, ok := v.(string); ok {
				values[i] = "'" + s + "'"
			}
		}
		text += ", where " + strings.Join(values, " and ") + " means unknown"
	}
	if f.IgnoreCase {
		text += ", where upper and lower case are the same"
	}
	for _, s := range f.Same {
		text += ", where '" + strings.Join(s.Spellings, "' and '") + "' means '" + s.Value + "'"
	}
	return text + said(strings.TrimSpace(f.Description+" "+f.Instructions))
}
