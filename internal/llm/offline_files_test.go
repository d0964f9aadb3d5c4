package llm

import "testing"

func TestSplitWish(t *testing.T) {
	for said, want := range map[string]struct {
		question string
		wish     wish
	}{
		"Chart of revenue by month as a report":                {"revenue by month", wish{chart: true, report: true, format: "pdf"}},
		"Draw a chart of total amount by status":               {"total amount by status", wish{chart: true, format: "pdf"}},
		"Total amount by status as an HTML report":             {"Total amount by status", wish{report: true, format: "html"}},
		"Umsatz je Monat als Diagramm und als Bericht":         {"Umsatz je Monat", wish{chart: true, report: true, format: "pdf"}},
		"How many orders are there?":                           {"How many orders are there?", wish{format: "pdf"}},
		"revenue by month with a chart, as a PDF":              {"revenue by month", wish{chart: true, report: true, format: "pdf"}},
		"Revenue by country in 2024 as a chart and PDF report": {"Revenue by country in 2024", wish{chart: true, report: true, format: "pdf"}},
		"revenue by country as a bar chart":                    {"revenue by country", wish{chart: true, kind: "bar", format: "pdf"}},
		"Umsatz je Land als Balkendiagramm":                    {"Umsatz je Land", wish{chart: true, kind: "bar", format: "pdf"}},
		"A pie chart of orders per status":                     {"orders per status", wish{chart: true, kind: "pie", format: "pdf"}},
		"orders per status as an Excel file":                   {"orders per status", wish{file: "xlsx", format: "pdf"}},
		"orders in line 3 of the csv":                          {"orders in line 3 of the csv", wish{format: "pdf"}},
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
		{"run again: orders per month", first, "orders per month", "orders per month", wish{format: "pdf"}, "Revenue by country"},
		{"draw that as a bar chart", first, "Revenue by country", "Revenue by country", wish{chart: true, kind: "bar", format: "pdf"}, ""},
		{"now as a PDF", first, "Revenue by country", "Revenue by country", wish{report: true, format: "pdf"}, ""},
		{"und jetzt bitte als Balkendiagramm", first, "Revenue by country", "Revenue by country", wish{chart: true, kind: "bar", format: "pdf"}, ""},
		{"save it as CSV", first, "Revenue by country", "Revenue by country", wish{file: "csv", format: "pdf"}, ""},
		{"and only for Germany?", first, "and only for Germany?", "Revenue by country, only for Germany?", wish{format: "pdf"}, "Revenue by country"},
		{"draw a chart of orders per month", first, "orders per month", "orders per month", wish{chart: true, format: "pdf"}, "Revenue by country"},
		{"continue", append(first, said("draw that as a pie chart", "Drawn.")...), "Revenue by country", "Revenue by country", wish{chart: true, kind: "pie", format: "pdf"}, ""},
		{"2", said("Sales as a PDF", askedBack+" Which?"), "2", "Sales", wish{report: true, format: "pdf"}, "Sales"},
		{"continue", append(said("Sales as a PDF", askedBack+" Which?"), said("2", "Done.")...), "2", "Sales", wish{report: true, format: "pdf"}, "Sales"},
		{"now as a PDF", nil, "now", "now", wish{report: true, format: "pdf"}, ""},
	} {
		got := readFileRequest(tt.said, tt.history)
		last := ""
		for _, m := range got.history {
			if m.Role == User {
				last = m.Text
			}
		}
		if got.question != tt.question || got.topic != tt.topic || got.wish != tt.wish || last != tt.before {
			t.Errorf("%s: %q called %q, %+v after %q; want %q called %q, %+v after %q", tt.said, got.question, got.topic, got.wish, last, tt.question, tt.topic, tt.wish, tt.before)
		}
	}
}
