package chart_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/chart"
	"interlock/internal/fault"
	"interlock/internal/schema"
)

var update = flag.Bool("update", false, "write the golden pictures")

// table makes a result: columns as "name TYPE", rows as JSON.
func table(t *testing.T, columns, rows string) chart.Table {
	t.Helper()
	var list []schema.Column
	for _, c := range strings.Split(columns, ", ") {
		name, typ, _ := strings.Cut(c, ":")
		list = append(list, schema.Column{Name: name, Type: schema.ParseType(typ)})
	}
	out, err := chart.DecodeTable(list, json.RawMessage(rows))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rowList makes rows by a function.
func rowList(n int, row func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = row(i)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// gallery are the shapes that results come in, and what a person would want to see.
var gallery = []struct {
	name, columns, rows string
	request             chart.Request
	kind                chart.Kind // that must be chosen
}{
	{
		"months", "month:DATE, revenue:DOUBLE", rowList(18, func(i int) string {
			return fmt.Sprintf(`["%d-%02d-01",%.2f]`, 2024+i/12, i%12+1, 120000+30000*math.Sin(float64(i)/2)+float64(i)*4000)
		}), chart.Request{Title: "Umsatz je Monat", Unit: "€"}, chart.Line,
	},
	{
		"months_null", "month:VARCHAR, revenue:DOUBLE", `[["2025-01",10],["2025-02",12],["2025-03",null],["2025-04",15],["2025-05",null],["2025-06",9],["2025-07",null],["2025-08",11],["2025-09",14]]`,
		chart.Request{},
		chart.Line,
	},
	{"regions", "region:VARCHAR, revenue:BIGINT", `[["North",5120],["South",3980],["East",2210],["West",6015]]`, chart.Request{Unit: "EUR"}, chart.Bar},
	{
		"negative", "quarter:VARCHAR, profit:DOUBLE", `[["2024-Q1",-12.5],["2024-Q2",4.25],["2024-Q3",18],["2024-Q4",-3],["2025-Q1",22.75]]`,
		chart.Request{Title: "Profit by quarter", Unit: "k€"},
		chart.Bar,
	},
	{
		"long_labels", "product:VARCHAR, sold:BIGINT", `[["Stainless steel water bottle with bamboo lid, 750 ml, matt black, engraved",812],["Überlänge: Donaudampfschifffahrtsgesellschaftskapitänsmütze",640],["Mug",433],["Tee <b>bold</b> & \"quoted\"",-120],["Notebook A5",88]]`,
		chart.Request{},
		chart.Bar,
	},
	{
		"many_categories", "customer:VARCHAR, spent:DOUBLE", rowList(120, func(i int) string { return fmt.Sprintf(`["Customer %03d",%d]`, i, (i*7919)%10007) }),
		chart.Request{Title: "Spending by customer"},
		chart.Bar,
	},
	{
		"series", "month:DATE, region:VARCHAR, revenue:DOUBLE", rowList(36, func(i int) string {
			return fmt.Sprintf(`["2025-%02d-01",%q,%d]`, i/3+1, []string{"North", "South", "West"}[i%3], 1000+(i*i*37)%700+300*(i%3))
		}), chart.Request{}, chart.Line,
	},
	{
		"grouped", "region:VARCHAR, year:BIGINT, revenue:DOUBLE", `[["North",2023,10],["North",2024,14],["South",2023,8],["South",2024,7.5],["West",2023,11],["West",2024,13]]`,
		chart.Request{Unit: "M€"},
		chart.Bar,
	},
	{
		"stacked", "month:DATE, kind:VARCHAR, cost:DOUBLE", `[["2025-01-01","staff",50],["2025-01-01","rent",20],["2025-02-01","staff",52],["2025-02-01","rent",20],["2025-02-01","refund",-6],["2025-04-01","staff",55],["2025-04-01","rent",21]]`,
		chart.Request{Kind: "stacked_bar", Title: "Costs, with a month that is missing"},
		chart.Bar,
	},
	{
		"area", "day:DATE, channel:VARCHAR, visits:BIGINT", rowList(90, func(i int) string {
			return fmt.Sprintf(`["2025-%02d-%02d",%q,%d]`, i/2/28+1, i/2%28+1, []string{"search", "mail"}[i%2], 200+i*3+(i*53)%40)
		}), chart.Request{Kind: "area"}, chart.Area,
	},
	{"pie", "status:VARCHAR, orders:BIGINT", `[["paid",610],["open",205],["cancelled",64],["returned",31]]`, chart.Request{Kind: "pie", Title: "Orders by status"}, chart.Pie},
	{
		"pie_many", "country:VARCHAR, orders:BIGINT", rowList(25, func(i int) string { return fmt.Sprintf(`["Country %c",%d]`, 'A'+i, 1000/(i+1)) }),
		chart.Request{Kind: "pie"},
		chart.Pie,
	},
	{
		"points", "weight_kg:DOUBLE, price:DOUBLE", rowList(150, func(i int) string {
			return fmt.Sprintf(`[%.2f,%.2f]`, float64(i%50)/5+1, 20+float64(i%50)*1.4+float64((i*31)%17))
		}),
		chart.Request{Unit: "€"},
		chart.Point,
	},
	{
		"histogram", "amount:DOUBLE", rowList(400, func(i int) string {
			return fmt.Sprintf(`[%.2f]`, 50+30*math.Sin(float64(i))+20*math.Cos(float64(i)*1.7))
		}),
		chart.Request{Unit: "€"},
		chart.Histogram,
	},
	{
		"hours", "at:TIMESTAMP, load:DOUBLE", rowList(48, func(i int) string {
			return fmt.Sprintf(`["2025-03-%02d %02d:00:00",%.3f]`, 30+i/24, i%24, 0.42+0.01*math.Sin(float64(i)))
		}),
		chart.Request{},
		chart.Line,
	},
	{"measures", "month:DATE, plan:DOUBLE, actual:DOUBLE", `[["2025-01-01",10,9],["2025-02-01",11,12.5],["2025-03-01",12,null],["2025-04-01",13,14]]`, chart.Request{Y: []string{"plan", "actual"}}, chart.Line},
	{"big", "year:BIGINT, population:DECIMAL(38,0)", `[[1990,79364504],[2000,82211508],[2010,80222065],[2020,83160871]]`, chart.Request{}, chart.Bar},
	{"one_row", "region:VARCHAR, revenue:DOUBLE", `[["North",0.0421]]`, chart.Request{}, chart.Bar},
}

// TestGallery draws what results look like and holds the pictures and documents to
// those that somebody looked at (-update writes them).
func TestGallery(t *testing.T) {
	for _, tt := range gallery {
		t.Run(tt.name, func(t *testing.T) {
			data := table(t, tt.columns, tt.rows)
			spec, err := chart.Plan(data, tt.request)
			if err != nil {
				t.Fatal(err)
			}
			if spec.Kind != tt.kind {
				t.Errorf("chosen: %s, want %s", spec.Kind, tt.kind)
			}
			picture := draw(t, data, spec)
			svg := picture.SVG()
			inside(t, picture)
			wellFormed(t, svg)
			doc, err := spec.VegaLite(t.Context(), data, chart.Reference{Name: tt.name, ResultID: "art_1@1", URL: "/api/artifacts/art_1@1"})
			if err != nil {
				t.Fatal(err)
			}
			from, request, err := chart.ParseDocument(doc)
			if err != nil || from.ResultID != "art_1@1" {
				t.Fatalf("%+v, %v", from, err)
			}
			again, err := chart.Plan(data, request)
			if err != nil || !bytes.Equal(draw(t, data, again).SVG(), svg) {
				t.Errorf("the document describes another picture (%v)", err)
			}
			golden(t, tt.name+".svg", svg)
			golden(t, tt.name+".vl.json", doc)
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at the new one (-update) before you keep it", name)
	}
}

// inside makes sure that nothing leaves the picture and no number is broken.
func inside(t *testing.T, p *chart.Picture) {
	t.Helper()
	check := func(spots ...chart.Spot) {
		for _, s := range spots {
			if !(s.X >= -0.5 && s.X <= p.Width+0.5 && s.Y >= -0.5 && s.Y <= p.Height+0.5) {
				t.Errorf("a shape at %v leaves the picture of %vx%v", s, p.Width, p.Height)
			}
		}
	}
	for _, s := range p.Shapes {
		switch s := s.(type) {
		case chart.StraightLine:
			check(s.From, s.To)
		case chart.Polyline:
			check(s.Spots...)
		case chart.Polygon:
			check(s.Spots...)
		case chart.Circle:
			check(s.Center)
		case chart.Label:
			check(s.At)
			if strings.Contains(s.Text, "NaN") || strings.Contains(s.Text, "Inf") {
				t.Errorf("the label %q is no value", s.Text)
			}
		}
	}
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
		if e, ok := tok.(xml.StartElement); ok && (e.Name.Local == "script" || e.Name.Local == "b") {
			t.Errorf("data became the element %s", e.Name.Local)
		}
	}
}

// TestDocumentHoldsNoRows: the data of a chart is a reference.
func TestDocumentHoldsNoRows(t *testing.T) {
	data := table(t, "region:VARCHAR, revenue:DOUBLE", `[["SECRET-CELL",5],["b",6]]`)
	spec, err := chart.Plan(data, chart.Request{})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := spec.VegaLite(t.Context(), data, chart.Reference{Name: "sales", ResultID: "art_x@2", URL: "/api/artifacts/art_x@2"})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(doc, []byte("SECRET-CELL")) {
		t.Error("the document holds a row of its data")
	}
	var out struct {
		Data     struct{ URL, Name string }
		Usermeta struct {
			Interlock struct {
				ResultID string `json:"result_id"`
			}
		}
		Encoding map[string]struct{ Field string }
	}
	if err := json.Unmarshal(doc, &out); err != nil {
		t.Fatal(err)
	}
	if out.Data.URL != "/api/artifacts/art_x@2" || out.Usermeta.Interlock.ResultID != "art_x@2" || out.Encoding["x"].Field != "region" || out.Encoding["y"].Field != "revenue" {
		t.Errorf("the document is\n%s", doc)
	}
}

// TestRefusals: what cannot be drawn truthfully is refused, with what to do instead.
func TestRefusals(t *testing.T) {
	const two = `[["a",1,2],["b",3,4]]`
	for _, tt := range []struct {
		name, columns, rows string
		request             chart.Request
		code                fault.Code
		says, suggests      string
	}{
		{"no rows", "a:VARCHAR, n:DOUBLE", `[]`, chart.Request{}, fault.InvalidArguments, "no rows", "nothing was found"},
		{"unknown column", "a:VARCHAR, n:DOUBLE, m:DOUBLE", two, chart.Request{Y: []string{"revenue"}}, fault.InvalidArguments, `no column "revenue"`, "a, n, m"},
		{"unknown kind", "a:VARCHAR, n:DOUBLE, m:DOUBLE", two, chart.Request{Kind: "sunburst"}, fault.InvalidArguments, "no kind", "histogram"},
		{"text as y", "a:VARCHAR, n:DOUBLE, m:DOUBLE", two, chart.Request{Y: []string{"a"}}, fault.InvalidArguments, "no numbers", "n, m"},
		{"no numbers", "a:VARCHAR, b:VARCHAR", `[["x","y"]]`, chart.Request{}, fault.InvalidArguments, "no column of numbers", "Count or sum"},
		{"one number", "n:DOUBLE", `[[5]]`, chart.Request{}, fault.InvalidArguments, "no distribution", "sentence"},
		{"two values in one place", "a:VARCHAR, n:DOUBLE", `[["x",1],["x",2]]`, chart.Request{}, fault.InvalidArguments, "several rows", "Sum or average"},
		{"negative slices", "a:VARCHAR, n:DOUBLE", `[["x",1],["y",-2]]`, chart.Request{Kind: "pie"}, fault.InvalidArguments, "negative", "bars"},
		{"negative areas", "d:DATE, n:DOUBLE", `[["2025-01-01",1],["2025-02-01",-2]]`, chart.Request{Kind: "area"}, fault.InvalidArguments, "negative", "lines"},
		{"points of names", "a:VARCHAR, n:DOUBLE", `[["x",1],["y",2]]`, chart.Request{Kind: "point"}, fault.InvalidArguments, "holds names", "bars"},
		{"series and measures", "a:VARCHAR, n:DOUBLE, m:DOUBLE", two, chart.Request{X: "a", Y: []string{"n", "m"}, Series: "a"}, fault.InvalidArguments, "not both", "one y"},
		{"too many rows", "n:DOUBLE", rowList(50_001, func(int) string { return "[1]" }), chart.Request{}, fault.TooLarge, "50001 rows", "Group"},
		{"too many points", "n:DOUBLE, m:DOUBLE", rowList(5_001, func(i int) string { return fmt.Sprintf("[%d,1]", i) }), chart.Request{}, fault.TooLarge, "told apart", "histogram"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := chart.Plan(table(t, tt.columns, tt.rows), tt.request)
			f, ok := errors.AsType[*fault.Fault](err)
			if !ok || f.Code != tt.code || !strings.Contains(f.Message, tt.says) || !strings.Contains(f.Suggestion, tt.suggests) {
				t.Errorf("got %v (suggestion %q), want %s, %q and %q", err, f.Suggestion, tt.code, tt.says, tt.suggests)
			}
		})
	}
}

// TestFieldsOfOddColumns: names that Vega-Lite reads as a path, as the number of a cell or as
// a field that the document adds get a field of their own, and people still read the names.
func TestFieldsOfOddColumns(t *testing.T) {
	for _, tt := range []struct {
		name, columns string
		request       chart.Request
		x, y          string
		says          string
	}{
		{"numbers of cells", "1:VARCHAR, 0:DOUBLE", chart.Request{X: "1", Y: []string{"0"}}, "column 1", "column 2", `"title": "1"`},
		{"a year", "region:VARCHAR, 2024:DOUBLE", chart.Request{X: "region", Y: []string{"2024"}}, "region", "2024", `"title": "2024"`},
		{"quotes and paths", `it's:VARCHAR, a.b[0]:DOUBLE`, chart.Request{X: "it's", Y: []string{"a.b[0]"}}, "column 1", "column 2", `"title": "it's"`},
		{"a field that a column has", "column 2:VARCHAR, x.y:DOUBLE", chart.Request{X: "column 2", Y: []string{"x.y"}}, "column 1", "column 2", `"title": "column 2"`},
		{"measures as series", "value:VARCHAR, a.b:DOUBLE, c:DOUBLE", chart.Request{X: "value", Y: []string{"a.b", "c"}}, "column 1", "value", `datum.series === \"column 2\" ? \"a.b\" : datum.series`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := table(t, tt.columns, map[int]string{2: `[["a",5],["b",6]]`, 3: `[["a",5,7],["b",6,8]]`}[strings.Count(tt.columns, ",")+1])
			spec, err := chart.Plan(data, tt.request)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := spec.VegaLite(t.Context(), data, chart.Reference{Name: "r", ResultID: "art_x@1", URL: "/api/artifacts/art_x@1"})
			if err != nil {
				t.Fatal(err)
			}
			var out struct {
				Encoding  map[string]struct{ Field string }
				Transform []struct{ Calculate, As any }
			}
			if err := json.Unmarshal(doc, &out); err != nil {
				t.Fatal(err)
			}
			if out.Encoding["x"].Field != tt.x || out.Encoding["y"].Field != tt.y || out.Transform[0].As != tt.x || !bytes.Contains(doc, []byte(tt.says)) {
				t.Errorf("the document is\n%s", doc)
			}
		})
	}
}
