package recon

import (
	"slices"
	"testing"
)

// A text that is compared with one column may hold the values of others: a code that only
// some rows quote, because no other row has it, and the first name beside the last.
func TestChooseOptions(t *testing.T) {
	column := func(name string, index int, words float64) ColumnProfile {
		return ColumnProfile{Name: name, index: index, Words: words, Length: 6 * words, Digits: 1, Distinct: 0.9}
	}
	pair := func(a, b ColumnProfile, as Kind, alike, noise float64) option {
		return option{Comparison: Comparison{Left: []string{a.Name}, Right: []string{b.Name}, As: as}, a: a, b: b, alike: alike, noise: noise, gain: alike - noise}
	}
	hotel, code, first, last := column("hotel", 0, 3), column("code", 1, 1), column("first", 2, 1), column("last", 3, 1)
	memo, name := column("memo", 0, 4), column("name", 1, 2)
	for what, x := range map[string]struct {
		options []option
		want    []string
	}{
		"a code in a quarter of the texts":     {[]option{pair(hotel, memo, Text, 0.9, 0.1), pair(code, memo, Reference, 0.25, 0)}, []string{"hotel", "code"}},
		"a code that others quote as well":     {[]option{pair(hotel, memo, Text, 0.9, 0.1), pair(code, memo, Reference, 0.29, 0.05)}, []string{"hotel"}},
		"a word in a quarter of the texts":     {[]option{pair(hotel, memo, Text, 0.9, 0.1), pair(first, memo, Text, 0.25, 0)}, []string{"hotel"}},
		"the first and the last name":          {[]option{pair(last, name, Text, 0.9, 0.1), pair(first, name, Text, 0.8, 0.1)}, []string{"last", "first"}},
		"two words in a name that has no room": {[]option{pair(last, name, Text, 0.9, 0.1), pair(column("town", 4, 2), name, Text, 0.8, 0.1)}, []string{"last"}},
	} {
		var got []string
		for _, c := range chooseOptions(x.options, nil, nil) {
			got = append(got, c.Left[0])
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", what, got, x.want)
		}
	}
}

func TestContainsNumber(t *testing.T) {
	s := newSpace(t)
	for _, x := range []struct {
		left, right string
		want        int64
	}{
		{"01715831988", "491715831988", 1}, // a telephone number at home and from abroad
		{"491715831988", "01715831988", 1},
		{"inv202400012", "rechnunginv202400012", 1},
		{"00012", "inv202400012", 0}, // what is left of it is too short
		{"0000", "100001", 0},
		{"01715831988", "491715831989", 0},
	} {
		got, err := selectOne[count](t.Context(), s, "SELECT CAST("+containsNumber(text(x.left), text(x.right))+" AS BIGINT)")
		if err != nil || got.N != x.want {
			t.Errorf("%s in %s: %v, %v", x.left, x.right, got.N, err)
		}
	}
}
