package toolbox

import (
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
	"interlock/internal/schema"
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

// maxReportResults bounds the results that a report looks at.
const maxReportResults = 20

func (b box) writeReport() tool.Tool {
	apart := func(s *tool.Spec) { s.IgnoreInIdentity = []string{"frames", "charts", "question"} }
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
	doc, cut, err := b.reportDocument(ctx, in)
	if err != nil {
		return MadeOut{}, err
	}
	write := report.HTML
	if format == "pdf" {
		write = report.PDF
	}
	content, err := write(ctx, doc)
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
		Note: joinSentences(madeNote(made, made.Name+" holds the report", made.Name+" holds exactly this already"), reportNote(doc, format, cut)),
	}, nil
}

// reportNote says what a person should look at before the report leaves the house. It
// repeats no figure: an answer that quotes the note would state it once more without an origin.
func reportNote(d report.Document, format string, cut bool) string {
	var parts []string
	if slices.ContainsFunc(slices.Concat(d.TitleFigures, d.Figures), func(f report.Figure) bool { return f.NoOrigin }) {
		parts = append(parts, "The report marks figures for which no origin was found.")
	}
	if cut {
		parts = append(parts, "Only a part of the results was looked at for the origins of figures.")
	}
	if format == "pdf" {
		if missing := report.Unprintable(d.Title + d.Markdown); missing != "" {
			parts = append(parts, fmt.Sprintf("The PDF's fonts lack some characters (%s); HTML shows them.", missing))
		}
	}
	return strings.Join(parts, " ")
}

// reportDocument loads the results and charts that the text shows, and links its
// figures to the results of the thread. cut reports that not all of them were looked at.
func (b box) reportDocument(ctx context.Context, in WriteReportIn) (doc report.Document, cut bool, err error) {
	doc = report.Document{Title: in.Title, Markdown: in.Markdown}
	shows := func(name string) bool { return strings.Contains(strings.ToLower(in.Markdown), strings.ToLower(name)) }
	for _, f := range newestFrames(in.Frames) {
		kept, err := b.Results.Load(ctx, f.ResultID)
		if fault.Is(err, fault.NotFound) && !shows(f.Name) {
			continue // retention removed it, and the report does without
		}
		if err != nil {
			return doc, false, err
		}
		table, err := chart.DecodeTable(kept.Columns, kept.Rows)
		if err != nil {
			return doc, false, err
		}
		doc.Tables = append(doc.Tables, report.Table{Name: f.Name, Columns: table.Columns, Rows: table.Rows})
	}
	for i, c := range in.Charts {
		newer := slices.ContainsFunc(in.Charts[i+1:], func(o NamedChart) bool { return o.Name == c.Name })
		if newer {
			continue
		}
		named := report.Chart{Name: c.Name}
		if shows(c.Name) {
			if named.Picture, err = b.redraw(ctx, c); err != nil {
				return doc, false, err
			}
		}
		doc.Charts = append(doc.Charts, named)
	}
	figures, names, cut := traceReport(ctx, in, doc.Tables)
	text := len(in.Title) + len(titleEnd) // where the Markdown begins
	for _, f := range figures {
		shown := report.Figure{Start: f.Start, End: f.End, Text: f.Text, Source: f.Named(names).Origin(), NoOrigin: f.Unsupported() || f.Support == figure.Contradicted}
		if f.Start < text {
			doc.TitleFigures = append(doc.TitleFigures, shown)
			continue
		}
		shown.Start, shown.End = f.Start-text, f.End-text
		doc.Figures = append(doc.Figures, shown)
	}
	return doc, cut, nil
}

// titleEnd stands between the title and the text of a report when their figures are traced.
const titleEnd = "\n\n"

// traceReport finds where the figures of a report and its title come from. In a turn the engine says it,
// from the same evidence as for the answer, so that both show the same; a call outside a turn
// has only the results that it was given.
func traceReport(ctx context.Context, in WriteReportIn, tables []report.Table) (figures []figure.Figure, names map[string]string, cut bool) {
	if trace := tool.In(ctx).TraceFigures; trace != nil {
		traced, names := trace(in.Title + titleEnd + in.Markdown)
		return traced.Figures, names, traced.Cut
	}
	evidence := figure.Evidence{Questions: []string{in.Question}}
	for _, t := range tables { // the oldest first: what was fetched before what was made of it
		evidence.AddTable(figure.Table{ID: t.Name, Columns: schema.Names(t.Columns), Rows: t.Rows})
	}
	figures, cut = figure.Trace(in.Title+titleEnd+in.Markdown, evidence)
	return figures, nil, cut
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
	return chart.Draw(ctx, table, plan)
}
