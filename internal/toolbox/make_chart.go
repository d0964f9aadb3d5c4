package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/chart"
	"interlock/internal/event"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// MakeChartIn is what make_chart takes; the machine binds Frames.
type MakeChartIn struct {
	From   string  `json:"from" jsonschema:"name of a fetched result"`
	Kind   string  `json:"kind,omitempty" jsonschema:"bar, stacked_bar, line, area, point, pie or histogram; chosen by the result where it is left out"`
	X      string  `json:"x,omitempty" jsonschema:"column of dates or categories"`
	Y      string  `json:"y,omitempty" jsonschema:"column of numbers; several with commas between them"`
	Series string  `json:"series,omitempty" jsonschema:"column whose values are drawn as series of their own"`
	Title  string  `json:"title,omitempty" jsonschema:"what the chart shows, in the person's language"`
	Unit   string  `json:"unit,omitempty" jsonschema:"of the numbers, such as EUR or %"`
	Frames []Frame `json:"frames,omitempty"`
}

// MakeChartOut is the stored chart: the document and, beside it, the picture.
type MakeChartOut struct {
	MadeOut
	Picture string `json:"picture"`
	Kind    string `json:"kind"`
	From    string `json:"from"`
}

func (b box) makeChart() tool.Tool {
	return tool.Versioned(tool.New(spec("make_chart", tool.Writes, taints, framesApart), b.drawChart), resultVersion)
}

// resultVersion is the kept result that a call names: other results of the thread do
// not make another call of it.
func resultVersion(_ context.Context, args json.RawMessage) string {
	var in struct {
		From   string  `json:"from"`
		Frames []Frame `json:"frames"`
	}
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	f, err := resultNamed(in.Frames, in.From)
	if err != nil {
		return ""
	}
	return f.ResultID
}

func (b box) drawChart(ctx context.Context, in MakeChartIn) (MakeChartOut, error) {
	if b.Results == nil || b.Files == nil {
		return MakeChartOut{}, errNoFiles("make_chart")
	}
	frame, err := resultNamed(in.Frames, in.From)
	if err != nil {
		return MakeChartOut{}, err
	}
	kept, err := b.Results.Load(ctx, frame.ResultID)
	if err != nil {
		return MakeChartOut{}, err
	}
	table, err := chart.DecodeTable(kept.Columns, kept.Rows)
	if err != nil {
		return MakeChartOut{}, err
	}
	plan, err := chart.Plan(table, chart.Request{Kind: in.Kind, X: in.X, Y: listedColumns(table, in.Y), Series: in.Series, Title: in.Title, Unit: in.Unit})
	if err != nil {
		return MakeChartOut{}, err
	}
	doc, err := plan.VegaLite(ctx, table, chart.Reference{Name: frame.Name, ResultID: frame.ResultID, URL: "/api/artifacts/" + frame.ResultID})
	if err != nil {
		return MakeChartOut{}, err
	}
	picture, err := chart.Draw(ctx, table, plan)
	if err != nil {
		return MakeChartOut{}, err
	}
	about := append([]string{frame.Name, string(plan.Kind), plan.X, plan.Series, fmt.Sprint(plan.Stacked)}, plan.Y...)
	file := File{Name: picture.Title, Format: "svg", Producer: "chart", About: about}
	drawn, err := b.Files.Save(ctx, file, picture.SVG())
	if err != nil {
		return MakeChartOut{}, err
	}
	file.Name, file.Format = picture.Title+".vl", "json"
	document, err := b.Files.Save(ctx, file, doc)
	if err != nil {
		return MakeChartOut{}, err
	}
	out := MakeChartOut{Picture: versionID(drawn), Kind: string(plan.Kind), From: frame.Name}
	out.Name, out.Artifact, out.made = chartName(picture.Title, in.Frames), versionID(document), []event.ArtifactMade{document, drawn}
	out.Note = joinSentences(chartNote(plan, frame.Name), titleNote(ctx, in.Title), madeNote(document, "It is "+document.Name, "It exists already as "+document.Name))
	return out, nil
}

// chartName is the name under which reports know a chart. A result of that name keeps it.
func chartName(title string, frames []Frame) string {
	name := frameName(title)
	if slices.ContainsFunc(frames, func(f Frame) bool { return strings.EqualFold(f.Name, name) }) {
		return name + "_chart"
	}
	return name
}

// versionID names one version of an artifact.
func versionID(made event.ArtifactMade) string { return fmt.Sprintf("%s@%d", made.ID, made.Version) }

// listedColumns reads one column, or several with commas between them.
func listedColumns(t chart.Table, text string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return strings.EqualFold(c.Name, text) }) {
		return []string{text}
	}
	return strings.Split(text, ",")
}

// chartNote says what is drawn and what of the result is not.
func chartNote(s chart.Spec, from string) string {
	text := fmt.Sprintf("%s chart of %s", strings.ToUpper(string(s.Kind[:1]))+string(s.Kind[1:]), from)
	if len(s.Y) > 0 {
		text += ": " + strings.Join(s.Y, ", ") + " by " + s.X
	} else {
		text += ": " + s.X
	}
	if s.Series != "" {
		text += ", a series for each " + s.Series
	}
	text += "."
	if len(s.Unused) > 0 {
		text += " Not drawn: " + strings.Join(s.Unused, ", ") + "."
	}
	return text
}

// titleNote says that the title of a chart has a figure that nothing supports. It repeats no
// figure, as an answer may quote it.
func titleNote(ctx context.Context, title string) string {
	trace := tool.In(ctx).TraceFigures
	if trace == nil || title == "" {
		return ""
	}
	switch traced, _ := trace(title); {
	case traced.Unsupported > 0:
		return "The title of the chart has a figure for which no origin was found: leave it out, or get it from the data."
	case traced.Contradicted > 0:
		return "The title of the chart states a direction or a name that the values of its figures deny: correct it."
	}
	return ""
}
