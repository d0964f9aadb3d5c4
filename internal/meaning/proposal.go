package meaning

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"interlock/internal/fault"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// Bounds of what is taken of a proposal.
const (
	proposedParts    = 200
	proposedSynonyms = 6
	proposedChars    = 80  // of a name
	proposedText     = 300 // of a description or evidence
)

// ProposalSchema is the JSON Schema of what a model proposes.
//
//go:embed proposal.schema.json
var ProposalSchema []byte

//go:embed proposal.md
var proposalPrompt string

// ProposalPrompt tells a model what to propose.
func ProposalPrompt() string {
	return strings.ReplaceAll(proposalPrompt, "{{forms}}", queryplan.MetricForms)
}

// A Proposal is what a model would add to a draft. Nothing of it is believed before it was
// checked against the tables.
type Proposal struct {
	Tables []struct {
		Table    string   `json:"table"`
		Synonyms []string `json:"synonyms"`
		Evidence string   `json:"evidence"`
	} `json:"tables"`
	Fields []struct {
		Table    string   `json:"table"`
		Column   string   `json:"column"`
		Label    string   `json:"label"`
		Synonyms []string `json:"synonyms"`
		Evidence string   `json:"evidence"`
	} `json:"fields"`
	Metrics []struct {
		Name        string   `json:"name"`
		Table       string   `json:"table"`
		Expression  string   `json:"expression"`
		Description string   `json:"description"`
		Synonyms    []string `json:"synonyms"`
		Evidence    string   `json:"evidence"`
	} `json:"metrics"`
}

// ReadProposal reads what a model replied.
func ReadProposal(text string) (Proposal, error) {
	var p Proposal
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, fault.Wrap(err, fault.ModelBadOutput, "what the model drafted is not in the form that was asked for: %v", err).Suggest("Try again, or leave --with-model out.")
	}
	return p, nil
}

// A Proposed draft is a draft with what of a proposal fits.
type Proposed struct {
	Draft Draft
	Taken int      // labels, synonyms and metrics
	Left  []string // what was not taken, and why
}

// Propose adds to the draft what of a proposal fits the tables, each part marked with the model
// that drafted it and its evidence. What does not is named.
func (d Draft) Propose(p Proposal, by string, s schema.Dataset) Proposed {
	m := &merger{dataset: s, by: by, out: Proposed{Draft: d.clone()}}
	m.known = len(m.out.Draft.findings(s))
	for _, t := range p.Tables[:min(len(p.Tables), proposedParts)] {
		m.table(t.Table, t.Synonyms, t.Evidence)
	}
	for _, f := range p.Fields[:min(len(p.Fields), proposedParts)] {
		m.field(f.Table, f.Column, f.Label, f.Synonyms, f.Evidence)
	}
	for _, x := range p.Metrics[:min(len(p.Metrics), proposedParts)] {
		m.metric(schema.Metric{Name: strings.TrimSpace(x.Name), Table: x.Table, Expression: x.Expression, Description: clipProposed(x.Description)}, x.Synonyms, x.Evidence)
	}
	if over := max(0, len(p.Tables)-proposedParts) + max(0, len(p.Fields)-proposedParts) + max(0, len(p.Metrics)-proposedParts); over > 0 {
		m.leave("%d further parts", "more than %d of a kind are not read", over, proposedParts)
	}
	return m.out
}

// clone copies what merging changes.
func (d Draft) clone() Draft {
	d.Head, d.Metrics, d.Tables = slices.Clone(d.Head), slices.Clone(d.Metrics), slices.Clone(d.Tables)
	for i := range d.Tables {
		d.Tables[i].Synonyms, d.Tables[i].Fields = slices.Clone(d.Tables[i].Synonyms), slices.Clone(d.Tables[i].Fields)
		for k := range d.Tables[i].Fields {
			f := &d.Tables[i].Fields[k]
			f.Synonyms, f.Because = slices.Clone(f.Synonyms), slices.Clone(f.Because)
		}
	}
	return d
}

// findings are what a check of the draft would say, warnings included.
func (d Draft) findings(s schema.Dataset) Findings {
	doc, found := Read(File, d.yaml())
	if doc != nil {
		_, more := Check(doc, s)
		found = append(found, more...)
	}
	return found
}

// A merger puts the parts of a proposal into a draft, one at a time: a part is taken where it
// brings no finding.
type merger struct {
	dataset schema.Dataset
	by      string
	known   int // findings of the draft without the part
	out     Proposed
}

func (m *merger) leave(what, why string, args ...any) {
	m.out.Left = append(m.out.Left, fmt.Sprintf("Drafted by %s and left out: "+what+": "+why, append([]any{m.by}, args...)...))
}

// try changes a copy of the draft and keeps it where nothing is wrong with it.
func (m *merger) try(what string, change func(*Draft)) bool {
	next := m.out.Draft.clone()
	change(&next)
	found := next.findings(m.dataset)
	if len(found) > m.known {
		why := found[len(found)-1].Message
		for _, f := range found {
			if f.Severity != Warning {
				why = f.Message
				break
			}
		}
		m.leave("%s", "%s", what, why)
		return false
	}
	m.out.Draft = next
	m.out.Taken++
	return true
}

// mark is the comment above a part that a model drafted.
func (m *merger) mark(evidence string) string {
	if evidence = clipProposed(evidence); evidence == "" {
		evidence = "it gave no evidence"
	}
	return "drafted by " + m.by + ": " + evidence
}

func (m *merger) table(name string, synonyms []string, evidence string) {
	t, ok := m.dataset.Table(name)
	if !ok {
		m.leave("the table %q", "there is no such table", clipProposed(name))
		return
	}
	i := m.out.Draft.tableAt(t.Name)
	m.synonyms("the table "+t.Name, t.Name, synonyms, func(d *Draft, synonym string) {
		if d.Tables[i].SynonymsBecause == "" {
			d.Tables[i].SynonymsBecause = m.mark(evidence)
		}
		d.Tables[i].Synonyms = append(d.Tables[i].Synonyms, synonym)
	})
}

func (m *merger) field(table, column, label string, synonyms []string, evidence string) {
	t, ok := m.dataset.Table(table)
	if !ok {
		m.leave("the column %q", "there is no table %q", clipProposed(column), clipProposed(table))
		return
	}
	col, ok := t.Column(column)
	if !ok {
		m.leave("the column %q", "the table %s has none of that name", clipProposed(column), t.Name)
		return
	}
	what, i := "the column "+t.Name+"."+col.Name, m.out.Draft.tableAt(t.Name)
	edit := func(d *Draft, change func(*DraftField)) {
		k := slices.IndexFunc(d.Tables[i].Fields, func(f DraftField) bool { return f.Column == col.Name })
		if k < 0 {
			k = len(d.Tables[i].Fields)
			d.Tables[i].Fields = append(d.Tables[i].Fields, DraftField{Column: col.Name})
		}
		f := &d.Tables[i].Fields[k]
		if mark := m.mark(evidence); !slices.Contains(f.Because, mark) {
			f.Because = append(f.Because, mark)
		}
		change(f)
	}
	if label = strings.TrimSpace(label); label != "" && plainWords(label) != plainWords(col.Name) {
		why := badName(label)
		for _, other := range t.Columns {
			if why == "" && plainWords(other.Name) == plainWords(label) {
				why = "it is the name of the column " + other.Name
			}
		}
		if why != "" {
			m.leave("the label %q of %s", "%s", clipProposed(label), what, why)
		} else {
			m.try(fmt.Sprintf("the label %q of %s", label, what), func(d *Draft) { edit(d, func(f *DraftField) { f.Label = label }) })
		}
	}
	m.synonyms(what, col.Name, synonyms, func(d *Draft, synonym string) {
		edit(d, func(f *DraftField) { f.Synonyms = append(f.Synonyms, synonym) })
	})
}

func (m *merger) metric(x schema.Metric, synonyms []string, evidence string) {
	what := fmt.Sprintf("the metric %q", clipProposed(x.Name))
	if why := badName(x.Name); why != "" {
		m.leave("%s", "%s", what, why)
		return
	}
	t, ok := m.dataset.Table(x.Table)
	if !ok {
		m.leave("%s", "there is no table %q", what, clipProposed(x.Table))
		return
	}
	x.Table = t.Name
	drafted := DraftMetric{Metric: x, Because: m.mark(evidence), Model: m.by}
	if !m.try(what, func(d *Draft) { d.Metrics = append(d.Metrics, drafted) }) {
		return
	}
	at := len(m.out.Draft.Metrics) - 1
	m.synonyms(what, x.Name, synonyms, func(d *Draft, synonym string) {
		d.Metrics[at].Synonyms = append(slices.Clone(d.Metrics[at].Synonyms), synonym)
	})
}

// synonyms adds each synonym of a thing by itself: one that is taken does not cost the others.
func (m *merger) synonyms(what, name string, list []string, add func(*Draft, string)) {
	seen := []string{plainWords(name)}
	for _, synonym := range list[:min(len(list), proposedSynonyms)] {
		synonym = strings.TrimSpace(synonym)
		if why := badName(synonym); why != "" {
			m.leave("the synonym %q of %s", "%s", clipProposed(synonym), what, why)
			continue
		}
		words := plainWords(synonym)
		if slices.Contains(seen, words) {
			continue // it says nothing new
		}
		seen = append(seen, words)
		m.try(fmt.Sprintf("the synonym %q of %s", synonym, what), func(d *Draft) { add(d, synonym) })
	}
}

// tableAt is the place of a table in the draft, which gets one where it has none.
func (d *Draft) tableAt(name string) int {
	i := slices.IndexFunc(d.Tables, func(t DraftTable) bool { return t.Name == name })
	if i < 0 {
		i = len(d.Tables)
		d.Tables = append(d.Tables, DraftTable{Name: name})
	}
	return i
}

// badName says why a text cannot be a name that people use.
func badName(name string) string {
	switch {
	case len(name) > proposedChars:
		return fmt.Sprintf("it is longer than %d bytes", proposedChars)
	case !strings.ContainsFunc(name, unicode.IsLetter):
		return "it has no letter"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		return "it has characters that are not seen"
	}
	return ""
}

// clipProposed shortens a text that a model wrote and keeps only what is seen of it.
func clipProposed(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text))
	if len(text) > proposedText {
		return strings.ToValidUTF8(text[:proposedText], "") + "…"
	}
	return text
}
