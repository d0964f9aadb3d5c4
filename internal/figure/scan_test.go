package figure

import (
	"strings"
	"testing"
)

// TestForms holds that a figure is seen in whatever form it is written, and that what is no
// figure is not.
func TestForms(t *testing.T) {
	sales := call{output: `{"columns":["name","amount"],"rows":[["net",48211.37],["branches",412],["gross",1234.56],["old",-1234],["all",1000000],["pct",0.25]]}`}
	for _, c := range []struct{ name, answer, want string }{
		{"backticks", "Revenue was `48,211.37 EUR`.", "48,211.37 cell"},
		{"backticks that name it", "Revenue: `total: 48,211.99`", "48,211.99 none"},
		{"bold in backticks", "`**48,211.37**`", "48,211.37 cell"},
		{"a name in backticks", "The column `order_48211` and `q3 2024(x)`", ""},
		{"a program in backticks", "It ran `SELECT 48211.37`.", ""},
		{"an open fence", "```\nRevenue was 48,211.99\n", "48,211.99 none"},
		{"a program in an open fence hides no answer", "```sql\nSELECT 77001\n\nRevenue was 48,211.99\n", "48,211.99 none"},
		{"a fence with a program", "```sql\nSELECT 77001\n```\nRevenue was 48,211.37.", "48,211.37 cell"},
		{"a fence of another kind", "```json\n{\"revenue\": 48211.37, \"other\": 99123}\n```", "48211.37 cell, 99123 none"},
		{"a plain fence with a program", "```\nSELECT 77001 FROM x\n```", ""},
		{"glued currency", "Revenue was EUR48211.37.", "48211.37 cell"},
		{"glued currency and sign", "It was EUR-1,234.", "-1,234 cell"},
		{"a name that ends in a number", "ABC48211 and Q3 and INV-7001", ""},
		{"full-width digits", "Revenue was ４８２１１．３７ euros.", "４８２１１．３７ cell"},
		{"Arabic digits", "Revenue was ٤١٢ euros.", "٤١٢ cell"},
		{"no-width spaces", "Revenue was 48\u200b211.37 euros.", "48\u200b211.37 cell"},
		{"a number alone in its line", "Revenue in k:\n412.\n", "412 cell"},
		{"a single item", "1. net is 48,211.37", "48,211.37 cell"},
		{"a list", "1. net is 48,211.37\n2. branches: 412", "48,211.37 cell, 412 cell"},
		{"a list that goes on", "101. net\n102. gross", ""},
		{"a large number like an item", "412. That is the number of branches.", "412 cell"},
		{"a day at the beginning of a line", "12. März 2024: 412", "12. März 2024 none, 412 cell"},
		{"an exponent", "Revenue was 4.821137e4.", "4.821137e4 cell"},
		{"a rounded exponent", "The net revenue was 4.8e4 euros.", "4.8e4 cell"},
		{"narrow spaces", "Es waren 1\u202f234,56 Euro und 48\u2009211,37 und 1 234,56.", "1\u202f234,56 cell, 48\u2009211,37 cell, 1 234,56 cell"},
		{"a year before a number", "In 2024 412 branches.", "2024 none, 412 cell"},
		{"negative in brackets", "old: (1,234)", "1,234 cell"},
		{"roughly", "48211ish", "48211 cell"},
		{"one million", "For all it was one million euros, fast eine Million for all.", "one million cell, Million cell"},
		{"an address", "See https://example.com/48211 and [here](48211).", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := supportsOf(c.answer, "", sales); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", strings.ReplaceAll(c.answer, "\n", "⏎"), got, c.want)
			}
		})
	}
}

// TestDisguisedNumbers holds that a number which is made up is seen however it is written.
func TestDisguisedNumbers(t *testing.T) {
	e := Evidence{Tables: []Table{{ID: "a", Columns: []string{"region", "revenue"}, Rows: [][]any{{"North", 1200.5}, {"South", 980.25}, {"West", 400}}}}}
	for _, text := range []string{
		"48,211.37", "４８，２１１．３７", "48\u200b,211", "48\u200e211", "4\u20608211", "4️⃣8️⃣2️⃣1️⃣1️⃣", "4\ufe0f8\ufe0f2\ufe0f1\ufe0f1", "⁴⁸²¹¹", "④⑧②①①", "𝟒𝟖𝟐𝟏𝟏", "٤٨٢١١",
		"48&#44;211", "&#52;&#56;&#x32;11", "4&shy;8&shy;211", "48&nbsp;211", "&frac12; million", "48½ thousand", "4.8211e4", "−48,211", "(48,211)", "`48,211`", "[48,211](https://x.y/1)",
		"#48211", "forty-eight thousand two hundred and eleven", "achtundvierzigtausendzweihundertelf", "tenfold", "quadrupled", "vervierfacht",
	} {
		answer := "Revenue was " + text + " euros."
		all := traced(answer, e)
		if len(all) != 1 || !all[0].Unsupported() {
			t.Errorf("%q gives %+v", answer, all)
		}
	}
	for _, text := range []string{"120 m²", "CO₂", "see note¹²", "point ① of three", "A&B &amp; C"} {
		for _, f := range traced(text, Evidence{}) {
			if strings.ContainsAny(f.Text, "²₂¹①&") {
				t.Errorf("%q is a figure in %q", f.Text, text)
			}
		}
	}
}
