package meaning

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A Draft is a semantic model for a person to keep or strike, each part with its evidence.
type Draft struct {
	Name, Description string
	Head              []string // comments at the top
	Today             string
	TodayBecause      string
	Tables            []DraftTable
	Relations         []DraftRelation
	Metrics           []DraftMetric
}

// A DraftTable is a table of a draft.
type DraftTable struct {
	Name, Description         string
	Synonyms                  []string
	SynonymsBecause           string
	Key                       []string
	KeyBecause                string
	MainDate, MainDateBecause string
	Open                      string // a question that the person has to decide
	Fields                    []DraftField
}

// A DraftField is a column about which something is said.
type DraftField struct {
	Column, Label, Description string
	Synonyms                   []string
	Unknown                    []any
	IgnoreCase                 bool
	Same                       []schema.SameValue
	Because                    []string
}

// A DraftRelation is a relation with its evidence.
type DraftRelation struct {
	schema.Relation
	Because string
}

// A DraftMetric is a metric with its evidence.
type DraftMetric struct {
	schema.Metric
	Because string
	Model   string // that drafted it; "" where the data or the dictionary say it
}

// Write writes the draft as a file that passes Check against the dataset: what would not is
// left out, and said in a comment.
func (d Draft) Write(s schema.Dataset) []byte {
	var left []string
	for range maxAttempts {
		d.Head = append(slices.Clone(d.Head), left...)
		text := d.yaml()
		doc, found := Read(File, text)
		if doc != nil {
			_, found = Check(doc, s)
		}
		errs := found.Errors()
		if len(errs) == 0 {
			return text
		}
		left = d.drop(errs)
		if left == nil {
			break
		}
	}
	return Draft{Name: d.Name, Head: d.Head, Tables: bareTables(s)}.yaml()
}

// maxAttempts is how often a draft is written until nothing of it is wrong.
const maxAttempts = 8

func bareTables(s schema.Dataset) []DraftTable {
	var out []DraftTable
	for _, t := range s.Tables {
		out = append(out, DraftTable{Name: t.Name})
	}
	return out
}

var draftPart = regexp.MustCompile(`^semantic_model\[0\]\.(datasets|relationships|metrics)\[(\d+)\](?:\.fields\[(\d+)\])?`)

// drop takes the parts out that findings are about, and says so; nil where it cannot.
func (d *Draft) drop(found Findings) []string {
	var said []string
	slices.Reverse(found) // from the end, so that numbers stay right
	done := map[string]bool{}
	for _, f := range found {
		m := draftPart.FindStringSubmatch(f.Path)
		if m == nil || done[m[0]] {
			continue
		}
		done[m[0]] = true
		i, _ := strconv.Atoi(m[2])
		switch {
		case m[1] == "metrics" && i < len(d.Metrics):
			said = append(said, fmt.Sprintf("The metric %s is left out: %s", d.Metrics[i].Name, f.Message))
			d.Metrics = slices.Delete(slices.Clone(d.Metrics), i, i+1)
		case m[1] == "relationships" && i < len(d.Relations):
			said = append(said, "A relation is left out: "+f.Message)
			d.Relations = slices.Delete(slices.Clone(d.Relations), i, i+1)
		case m[1] == "datasets" && m[3] != "" && i < len(d.Tables):
			k, _ := strconv.Atoi(m[3])
			if k >= len(d.Tables[i].Fields) {
				continue // the table went before it
			}
			d.Tables = slices.Clone(d.Tables)
			said = append(said, "A column is left out: "+f.Message)
			d.Tables[i].Fields = slices.Delete(slices.Clone(d.Tables[i].Fields), k, k+1)
		case m[1] == "datasets" && i < len(d.Tables):
			d.Tables = slices.Clone(d.Tables)
			said = append(said, "What is said of a table is left out: "+f.Message)
			d.Tables[i] = DraftTable{Name: d.Tables[i].Name}
		}
	}
	return said
}

// yaml writes the draft.
func (d Draft) yaml() []byte {
	w := &draftWriter{}
	for _, line := range d.Head {
		w.comment("", line)
	}
	w.line("", "version: "+Version)
	w.line("", "semantic_model:")
	w.line("  ", "- name: "+scalar(d.Name))
	if d.Description != "" {
		w.line("    ", "description: "+scalar(d.Description))
	}
	w.line("    ", "datasets:")
	for _, t := range d.Tables {
		w.table(t)
	}
	if len(d.Relations) > 0 {
		w.line("    ", "relationships:")
	}
	taken := map[string]int{}
	for _, r := range d.Relations {
		name := r.Table + "_to_" + r.RefTable
		if taken[name]++; taken[name] > 1 {
			name += "_" + strconv.Itoa(taken[name])
		}
		w.comment("      ", r.Because)
		w.line("      ", fmt.Sprintf("- {name: %s, from: %s, to: %s, from_columns: [%s], to_columns: [%s]}", scalar(name), scalar(r.Table), scalar(r.RefTable), scalar(r.Column), scalar(r.RefColumn)))
	}
	if len(d.Metrics) > 0 {
		w.line("    ", "metrics:")
	}
	for _, m := range d.Metrics {
		w.metric(m)
	}
	if d.Today != "" {
		w.comment("    ", d.TodayBecause)
		w.extension("    ", map[string]any{"today": d.Today})
	}
	return []byte(w.String())
}

type draftWriter struct{ strings.Builder }

func (w *draftWriter) line(indent, text string) { w.WriteString(indent + text + "\n") }

// comment writes evidence above what it is about, on one line.
func (w *draftWriter) comment(indent, text string) {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == unicode.ReplacementChar
	}), " ")
	if text != "" {
		w.line(indent, "# "+strings.ToValidUTF8(text, ""))
	}
}

func (w *draftWriter) table(t DraftTable) {
	w.line("      ", "- name: "+scalar(t.Name))
	w.line("        ", "source: "+scalar(t.Name))
	if t.Description != "" {
		w.line("        ", "description: "+scalar(t.Description))
	}
	w.comment("        ", t.SynonymsBecause)
	w.synonyms("        ", t.Synonyms)
	if len(t.Key) > 0 {
		names := make([]string, len(t.Key))
		for i, k := range t.Key {
			names[i] = scalar(k)
		}
		w.comment("        ", t.KeyBecause)
		w.line("        ", "primary_key: ["+strings.Join(names, ", ")+"]")
	}
	if len(t.Fields) > 0 {
		w.line("        ", "fields:")
	}
	for _, f := range t.Fields {
		w.field(f)
	}
	w.comment("        ", t.Open)
	if t.MainDate != "" {
		w.comment("        ", t.MainDateBecause)
		w.extension("        ", map[string]any{"main_date": t.MainDate})
	}
}

func (w *draftWriter) field(f DraftField) {
	for _, b := range f.Because {
		w.comment("          ", b)
	}
	w.line("          ", "- name: "+scalar(f.Column))
	w.expression("            ", queryplan.MetricText(queryplan.Col(f.Column)))
	if f.Label != "" {
		w.line("            ", "label: "+scalar(f.Label))
	}
	if f.Description != "" {
		w.line("            ", "description: "+scalar(f.Description))
	}
	w.synonyms("            ", f.Synonyms)
	ours := map[string]any{}
	if len(f.Unknown) > 0 {
		ours["unknown"] = f.Unknown
	}
	if f.IgnoreCase {
		ours["ignore_case"] = true
	}
	if len(f.Same) > 0 {
		ours["same"] = f.Same
	}
	if len(ours) > 0 {
		w.extension("            ", ours)
	}
}

func (w *draftWriter) metric(m DraftMetric) {
	w.comment("      ", m.Because)
	w.line("      ", "- name: "+scalar(m.Name))
	if m.Description != "" {
		w.line("        ", "description: "+scalar(m.Description))
	}
	w.expression("        ", m.Expression)
	w.synonyms("        ", m.Synonyms)
	if m.Table != "" && !strings.Contains(m.Expression, ".") {
		w.extension("        ", map[string]any{"table": m.Table})
	}
}

func (w *draftWriter) expression(indent, text string) {
	w.line(indent, "expression:")
	w.line(indent, "  dialects:")
	w.line(indent, "    - dialect: ANSI_SQL")
	w.line(indent, "      expression: "+scalar(text))
}

func (w *draftWriter) synonyms(indent string, names []string) {
	if len(names) == 0 {
		return
	}
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = scalar(n)
	}
	w.line(indent, "ai_context:")
	w.line(indent, "  synonyms: ["+strings.Join(list, ", ")+"]")
}

func (w *draftWriter) extension(indent string, data map[string]any) {
	w.line(indent, "custom_extensions:")
	w.line(indent, "  - vendor_name: "+vendor)
	w.line(indent, "    data: '"+strings.ReplaceAll(jsonText(data), "'", "''")+"'")
}

var (
	plainScalar = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_ ]*[A-Za-z0-9_]$`)
	wordsOfYAML = []string{"true", "false", "null", "yes", "no", "on", "off"}
)

// scalar writes a text as YAML, plain where that is safe.
func scalar(text string) string {
	if plainScalar.MatchString(text) && !slices.Contains(wordsOfYAML, strings.ToLower(text)) {
		return text
	}
	return jsonText(text)
}

// jsonText is a value as JSON on one line, with < and > as they are.
func jsonText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("meaning: a draft holds what is not JSON: " + err.Error())
	}
	return strings.TrimSpace(b.String())
}
