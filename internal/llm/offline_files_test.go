package llm

import (
	"slices"
	"testing"
)

func TestSplitWish(t *testing.T) {
	for said, want := range map[string]struct {
		question string
		wish     wish
	}{
		"Balkendiagramm: Umsatz je Filiale":                    {"Umsatz je Filiale", wish{chart: true, kind: "bar"}},
		"Chart of revenue by month as a report":                {"revenue by month", wish{chart: true, report: true}},
		"Draw a chart of total amount by status":               {"total amount by status", wish{chart: true}},
		"Total amount by status as an HTML report":             {"Total amount by status", wish{report: true, format: "html"}},
		"Umsatz je Monat als Diagramm und als Bericht":         {"Umsatz je Monat", wish{chart: true, report: true}},
		"How many orders are there?":                           {"How many orders are there?", wish{}},
		"revenue by month with a chart, as a PDF":              {"revenue by month", wish{chart: true, report: true, format: "pdf"}},
		"Revenue by country in 2024 as a chart and PDF report": {"Revenue by country in 2024", wish{chart: true, report: true, format: "pdf"}},
		"revenue by country as a bar chart":                    {"revenue by country", wish{chart: true, kind: "bar"}},
		"Umsatz je Land als Balkendiagramm":                    {"Umsatz je Land", wish{chart: true, kind: "bar"}},
		"A pie chart of orders per status":                     {"orders per status", wish{chart: true, kind: "pie"}},
		"orders per status as an Excel file":                   {"orders per status", wish{file: "xlsx"}},
		"orders in line 3 of the csv":                          {"orders in line 3 of the csv", wish{}},
	} {
		if question, w := splitWish(said); question != want.question || w != want.wish {
			t.Errorf("%s: %q %+v, want %q %+v", said, question, w, want.question, want.wish)
		}
	}
}

// A message is read together with those before it, as a person means it.
func TestFollowUpRequests(t *testing.T) {
	both := wish{chart: true, report: true, format: "pdf"}
	said := func(texts ...string) (list []Message) {
		for i, text := range texts {
			list = append(list, Message{Role: []Role{User, Assistant}[i%2], Text: text})
		}
		return list
	}
	first := said("Revenue by country as a chart and a PDF\n\n[dataset_id: shop]", "North leads.")
	for _, tt := range []struct {
		said            string
		history         []Message
		question, topic string
		wish            wish
		before          string // the question that the planner knows as the last
	}{
		{"continue", first, "Revenue by country", "Revenue by country", both, ""},
		{"Please run it again.", first, "Revenue by country", "Revenue by country", both, ""},
		{"Bitte noch einmal ausführen.", first, "Revenue by country", "Revenue by country", both, ""},
		{"run again: orders per month", first, "orders per month", "orders per month", wish{}, "Revenue by country"},
		{"draw that as a bar chart", first, "Revenue by country", "Revenue by country", wish{chart: true, kind: "bar"}, ""},
		{"now as a PDF", first, "Revenue by country", "Revenue by country", both, ""},
		{"now as a PDF", append(said("Revenue by country", "North leads."), said("draw that as a pie chart", "Drawn.")...), "Revenue by country", "Revenue by country", wish{chart: true, kind: "pie", report: true, format: "pdf"}, ""},
		{"now as a report with the chart", append(said("Revenue by country as a pie chart", "North leads."), said("save it as CSV", "Saved.")...), "Revenue by country", "Revenue by country", wish{chart: true, kind: "pie", report: true}, ""},
		{"as a PDF with a bar chart", said("Revenue by country as a pie chart", "North leads."), "Revenue by country", "Revenue by country", wish{chart: true, kind: "bar", report: true, format: "pdf"}, ""},
		{"draw that as a bar chart", append(slices.Clone(first), said("blorb", "What is blorb? "+stronger, "thanks", "Nothing. "+stronger)...), "Revenue by country", "Revenue by country", wish{chart: true, kind: "bar"}, ""},
		{"and only for Germany?", append(slices.Clone(first), said("blorb", "What is blorb? "+stronger)...), "and only for Germany?", "Revenue by country, only for Germany?", wish{}, "Revenue by country"},
		{"draw that as a bar chart", append(slices.Clone(first), said("orders", askForDataset([]string{"a", "b"}))...), "Revenue by country", "Revenue by country", wish{chart: true, kind: "bar"}, ""},
		{"und jetzt bitte als Balkendiagramm", first, "Revenue by country", "Revenue by country", wish{chart: true, kind: "bar"}, ""},
		{"draw that as a pie", first, "Revenue by country", "Revenue by country", wish{chart: true, kind: "pie"}, ""},
		{"zeichne das als Torte", first, "Revenue by country", "Revenue by country", wish{chart: true, kind: "pie"}, ""},
		{"as stacked bars please", first, "Revenue by country", "Revenue by country", wish{chart: true, kind: "stacked_bar"}, ""},
		{"make an Excel file of it", first, "Revenue by country", "Revenue by country", wish{file: "xlsx"}, ""},
		{"bitte eine CSV-Datei davon", first, "Revenue by country", "Revenue by country", wish{file: "csv"}, ""},
		{"revenue per product line as a bar", first, "revenue per product line as a bar", "revenue per product line as a bar", wish{}, "Revenue by country"},
		{"refine this: only Germany", first, "only Germany", "Revenue by country, only Germany", wish{}, "Revenue by country"},
		{"Verfeinere das: nur Deutschland", first, "nur Deutschland", "Revenue by country, nur Deutschland", wish{}, "Revenue by country"},
		{"draw that", first, "Revenue by country", "Revenue by country", wish{chart: true}, ""},
		{"nochmal als PDF", first, "Revenue by country", "Revenue by country", both, ""},
		{"als Excel speichern", first, "Revenue by country", "Revenue by country", wish{file: "xlsx"}, ""},
		{"save it as CSV", first, "Revenue by country", "Revenue by country", wish{file: "csv"}, ""},
		{"and only for Germany?", first, "and only for Germany?", "Revenue by country, only for Germany?", wish{}, "Revenue by country"},
		{"draw a chart of orders per month", first, "orders per month", "orders per month", wish{chart: true}, "Revenue by country"},
		{"continue", append(first, said("draw that as a pie chart", "Drawn.")...), "Revenue by country", "Revenue by country", wish{chart: true, kind: "pie"}, ""},
		{"2", said("Sales as a PDF", askedBack+" Which?"), "2", "Sales", wish{report: true, format: "pdf"}, "Sales"},
		{"continue", append(said("Sales as a PDF", askedBack+" Which?"), said("2", "Done.")...), "2", "Sales", wish{report: true, format: "pdf"}, "Sales"},
	} {
		got := readFileRequest(tt.said, tt.history)
		last := ""
		for _, m := range got.history {
			if m.Role == User {
				last = withoutDataset(m.Text)
			}
		}
		if got.question != tt.question || got.topic != tt.topic || got.wish != tt.wish || last != tt.before {
			t.Errorf("%s: %q called %q, %+v after %q; want %q called %q, %+v after %q", tt.said, got.question, got.topic, got.wish, last, tt.question, tt.topic, tt.wish, tt.before)
		}
	}
}

// "Draw that" without anything before is said to be that.
func TestNothingBefore(t *testing.T) {
	declined := []Message{{Role: User, Text: "blorb"}, {Role: Assistant, Text: "What is blorb? " + stronger}}
	for _, history := range [][]Message{nil, declined} {
		for _, said := range []string{"draw that", "draw that as a bar chart", "now as a PDF", "continue", "run it again"} {
			if r := readFileRequest(said, history); !r.nothingBefore {
				t.Errorf("%s after %d messages: %+v", said, len(history), r)
			}
		}
	}
}

// What an answer quotes of the data stays text in a report.
func TestCellsInReports(t *testing.T) {
	got := reportText("x", "The key is ![a](http://evil.example/x.png) and <b>*5*</b>.\n\nHow I read the question: `k` is [y](z).", "rows", Message{})
	want := "The key is !\\[a\\](http://evil.example/x.png) and \\<b>\\*5\\*\\</b>.\n\n![x](table:rows)\n\n## How the question was read\n\n\\`k\\` is \\[y\\](z).\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
