package toolbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/chart"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/figure"
	"interlock/internal/report"
	"interlock/internal/tool"
)

// WriteReportIn is what write_report takes; the machine binds Frames, Charts and
// Question.
type WriteReportIn struct {
	Title    string       `json:"title"`
	Markdown string       `json:"markdown" jsonschema:"the text; ![caption](name) shows a chart or a fetched result"`
	Format   string       `json:"format" jsonschema:"pdf or html"`
	Frames   []Frame      `json:"frames,omitempty"`
	Charts   []NamedChart `json:"charts,omitempty"`
	Question string       `json:"question,omitempty"`
}

// A NamedChart is a chart of the thread: its document and its picture.
type NamedChart struct {
	Name     string `json:"name"`
	Artifact string `json:"artifact"`
	Picture  string `json:"picture"`
}

// Bounds of what a report looks at for the origins of its figures.
const (
	maxReportResults = 20
	maxOriginRows    = 5000
)

func (b box) writeReport() tool.Tool {
	apart := func(s *tool.Spec) { s.Apart = []string{"frames", "charts", "question"} }
	return tool.Versioned(tool.New(spec("write_report", tool.Writes, mainArgument("markdown"), apart), b.storeReport), reportVersion)
}

// reportVersion is the results and charts that the thread has under each name: a report
// on other rows is another call.
func reportVersion(_ context.Context, args json.RawMessage) string {
	var in WriteReportIn
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	newest := map[string]string{}
	for _, f := range in.Frames {
		newest["result "+f.Name] = f.ResultID
	}
	for _, c := range in.Charts {
		newest["chart "+c.Name] = c.Artifact
	}
	raw, err := json.Marshal(newest) // keys are sorted
	if err != nil {
		return ""
	}
	return event.Hash(raw)[:16]
}

func (b box) storeReport(ctx context.Context, in WriteReportIn) (MadeOut, error) {
	if b.Results == nil || b.Files == nil {
		return MadeOut{}, errNoFiles("write_report")
	}
	format := strings.ToLower(strings.Trim(in.Format, " ."))
	if format != "pdf" && format != "html" {
		return MadeOut{}, fault.New(fault.InvalidArguments, "%.40q is no format of reports", in.Format).Suggest("Take pdf or html.")
	}
	doc, err := b.reportDocument(ctx, in)
	if err != nil {
		return MadeOut{}, err
	}
	write := report.HTML
	if format == "pdf" {
		write = report.PDF
	}
	content, err := write(doc)
	if err != nil {
		return MadeOut{}, err
	}
	title := strings.TrimSpace(in.Title)
	made, err := b.Files.Save(ctx, File{Name: clip(title, 80), Format: format, Producer: "report", About: []string{strings.ToLower(title)}}, content)
	if err != nil {
		return MadeOut{}, err
	}
	return MadeOut{
		Name: frameName(title), Artifact: versionID(made), made: []event.ArtifactMade{made},
		Note: joinSentences(made.Name+" is written.", reportNote(doc, format), madeNote(made)),
	}, nil
}

// reportNote says what a person should look at before the report leaves the house.
func reportNote(d report.Document, format string) string {
	var parts []string
	var without []string
	for _, f := range d.Figures {
		if f.NoOrigin && !slices.Contains(without, f.Text) {
			without = append(without, f.Text)
		}
	}
	if len(without) > 0 {
		parts = append(parts, fmt.Sprintf("Figures without an origin, marked as such: %s.", strings.Join(without[:min(10, len(without))], ", ")))
	}
	if format == "pdf" {
		if missing := report.Unprintable(d.Title + d.Markdown); missing != "" {
			parts = append(parts, fmt.Sprintf("The PDF's fonts lack some characters (%s); HTML shows them.", missing))
		}
	}
	return strings.Join(parts, " ")
}

// reportDocument loads the results and charts that the text shows, and links its
// figures to the results of the thread.
func (b box) reportDocument(ctx context.Context, in WriteReportIn) (report.Document, error) {
	doc := report.Document{Title: in.Title, Markdown: in.Markdown}
	shows := func(name string) bool { return strings.Contains(strings.ToLower(in.Markdown), strings.ToLower(name)) }
	evidence := figure.Evidence{Questions: []string{in.Question, in.Title}}
	for _, f := range newestFrames(in.Frames) {
		kept, err := b.Results.Load(ctx, f.ResultID)
		if err != nil {
			return doc, err
		}
		table, err := chart.DecodeTable(kept.Columns, kept.Rows)
		if err != nil {
			return doc, err
		}
		doc.Tables = append(doc.Tables, report.Table{Name: f.Name, Columns: table.Columns, Rows: table.Rows})
		evidence.Tables = append(evidence.Tables, evidenceOf(f.Name, table))
	}
	for i, c := range in.Charts {
		newer := slices.ContainsFunc(in.Charts[i+1:], func(o NamedChart) bool { return o.Name == c.Name })
		if newer {
			continue
		}
		named := report.Chart{Name: c.Name}
		if shows(c.Name) {
			var err error
			if named.Picture, err = b.redraw(ctx, c); err != nil {
				return doc, err
			}
		}
		doc.Charts = append(doc.Charts, named)
	}
	for _, f := range figure.Trace(in.Markdown, evidence) {
		text, none := originText(f)
		doc.Figures = append(doc.Figures, report.Figure{Start: f.Start, End: f.End, Text: f.Text, Source: text, NoOrigin: none})
	}
	return doc, nil
}

// newestFrames are the newest results, each name once, oldest first.
func newestFrames(frames []Frame) []Frame {
	var out []Frame
	for _, f := range slices.Backward(frames) {
		if len(out) < maxReportResults && !slices.ContainsFunc(out, func(o Frame) bool { return o.Name == f.Name }) {
			out = append(out, f)
		}
	}
	slices.Reverse(out)
	return out
}

// evidenceOf is a result as the origins of figures see it: numbers are numbers.
func evidenceOf(name string, t chart.Table) figure.Table {
	out := figure.Table{ID: name, Total: int64(len(t.Rows))}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, c.Name)
	}
	for _, row := range t.Rows[:min(maxOriginRows, len(t.Rows))] {
		cells := make([]any, len(row))
		for i, v := range row {
			if n, ok := v.(json.Number); ok {
				if f, err := n.Float64(); err == nil {
					v = f
				}
			}
			cells[i] = v
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// redraw draws a chart of the thread from its document.
func (b box) redraw(ctx context.Context, c NamedChart) (*chart.Picture, error) {
	raw, err := b.Files.Read(ctx, c.Artifact)
	if err != nil {
		return nil, err
	}
	from, request, err := chart.ParseDocument(raw)
	if err != nil {
		return nil, err
	}
	kept, err := b.Results.Load(ctx, from.ResultID)
	if err != nil {
		return nil, err
	}
	table, err := chart.DecodeTable(kept.Columns, kept.Rows)
	if err != nil {
		return nil, err
	}
	plan, err := chart.Plan(table, request)
	if err != nil {
		return nil, err
	}
	return chart.Draw(table, plan), nil
}

// originText says where a figure comes from; "" where a note would say nothing.
func originText(f figure.Figure) (text string, none bool) {
	place := ""
	if len(f.Cells) > 0 {
		c := f.Cells[0]
		place = fmt.Sprintf("result %s, column %s, row %d", c.Table, c.Column, c.Row+1)
		if len(f.Cells) > 1 {
			place = fmt.Sprintf("result %s, column %s", c.Table, c.Column)
		}
	}
	switch f.Support {
	case figure.FromCell:
		return place, false
	case figure.FromFormula:
		return joinOrigin(f.Formula, place), false
	case figure.FromDocument:
		return "document " + f.Source, false
	case figure.FromStatement:
		return "a condition of the query", false
	case figure.Weak:
		return "may be by chance: " + cmp.Or(joinOrigin(f.Formula, place), "a value of the results"), false
	case figure.None:
		return "No origin was found for this figure in the results of the thread.", true
	}
	return "", false
}

func joinOrigin(formula, place string) string {
	if formula == "" || place == "" {
		return formula + place
	}
	return formula + " (" + place + ")"
}
