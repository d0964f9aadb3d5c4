package figure

import (
	"strings"
	"testing"
)

// TestDirections holds which words about a change the data denies, and that none is denied
// where it is not plain what they speak of.
func TestDirections(t *testing.T) {
	const trams = `{"columns":["city","year","riders","loss"],"rows":[["Ulm",2022,51300,-900],["Ulm",2023,48750,-400],["Kiel",2022,20400,12],["Kiel",2023,22950,15],["Kiel",2024,22950,15]]}`
	const shops = `{"columns":["shop","sales_2023","sales_2024"],"rows":[["Mill",8450,7605],["Dock",3120,4056]]}`
	for _, c := range []struct{ answer, want string }{
		{"Riders in Ulm fell from 51,300 to 48,750.", ""},
		{"Riders in Ulm rose from 51,300 to 48,750.", "rose"},
		{"Riders in Ulm grew from 51,300 in 2022 to 48,750 in 2023, while Kiel fell from 20,400 to 22,950.", "grew fell"},
		{"Riders in Kiel grew by 2,550 to 22,950 in 2023.", ""},
		{"Riders in Kiel fell by 2,550 to 22,950 in 2023.", "fell"},
		{"Ulm had 48,750 riders in 2023, down from 51,300.", ""},
		{"Ulm had 48,750 riders in 2023 (up from 51,300).", "up"},
		{"Mill's sales grew by 10%.", "grew"},
		{"Mill's sales fell by 10%, those of Dock rose by 30%.", ""},
		{"Sales of Dock decreased by 936.", "decreased"},
		{"Bei Mill ist der Umsatz um 845 gestiegen.", "gestiegen"},
		{"Bei Mill ist der Umsatz um 845 gesunken.", ""},
		{"Bei Dock gab es einen Rückgang von 3.120 auf 4.056.", "Rückgang"},
		{"Bei Dock gab es einen Anstieg von 3.120 auf 4.056.", ""},
		{"Riders in Ulm did not grow, they went from 51,300 to 48,750; nothing rose.", ""},
		{"Riders in Ulm never rose from 51,300 to 48,750.", ""},
		{"Growth in Ulm slowed from 51,300 to 48,750.", ""},
		{"Values range from 51,300 in Ulm up to 22,950 in Kiel.", ""},
		{"Had it risen from 51,300 to 48,750, somebody would have erred.", ""},
		{"The loss in Ulm fell from 900 to 400.", ""},
		{"Riders in Kiel rose from 22,950 in 2023 to 22,950 in 2024.", ""}, // not a way at all
		{"Trips rose from 7 to 5.", ""},                                    // of no cells
	} {
		var e Evidence
		e.AddResult(Result{ID: "c1", Output: []byte(trams)})
		e.AddResult(Result{ID: "c2", Output: []byte(shops)})
		var got []string
		for _, f := range traced(c.answer, e) {
			if (f.Support == Contradicted) != (f.Denies != "") {
				t.Errorf("%s: %+v", c.answer, f)
			}
			if f.Denies != "" {
				got = append(got, f.Denies)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: denied %q, want %q\n%+v", c.answer, got, c.want, traced(c.answer, e))
		}
	}
}
