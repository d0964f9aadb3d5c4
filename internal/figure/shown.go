package figure

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// maxShown bounds the numbers that are read of a text.
const maxShown = 200

// A Shown is a number in a text, with the digits that it shows after the point.
type Shown struct {
	Value  float64
	Digits int
}

var shownPattern = regexp.MustCompile(`\d[\d.,'\x{2009}\x{202f}\x{a0}]*`)

// ShownIn finds the numbers of a text, in both ways to write thousands and fractions,
// without their signs.
func ShownIn(text string) []Shown {
	var out []Shown
	for _, word := range shownPattern.FindAllString(text, maxShown) {
		word = strings.TrimRight(word, ".,'")
		point := strings.LastIndexAny(word, ".,")
		if point >= 0 && len(word)-point == 4 && !strings.HasPrefix(word, "0") {
			point = -1 // 1,200 and 1.200: three digits behind it are thousands
		}
		whole, fraction := word, ""
		if point >= 0 {
			whole, fraction = word[:point], word[point+1:]
		}
		whole = strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, whole)
		if v, err := strconv.ParseFloat(whole+"."+fraction+"0", 64); err == nil {
			out = append(out, Shown{v, len(fraction)})
		}
	}
	return out
}

// Quotes reports whether the figure is the value, rounded as the text shows it, or the
// value as a percentage.
func (f Shown) Quotes(value float64) bool {
	half := 0.5 * math.Pow10(-f.Digits) * (1 + 1e-9)
	value = math.Abs(value)
	return math.Abs(value-f.Value) <= half || value <= 1 && f.Value != 0 && math.Abs(100*value-f.Value) <= half
}
