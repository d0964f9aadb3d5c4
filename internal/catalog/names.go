package catalog

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxName bounds a derived name.
const maxName = 60

// plainName makes a name that needs no quotes in SQL: lower case, letters without
// accents, digits and underscores. A name of which nothing is left is named after
// its hash.
func plainName(name string) string {
	var out strings.Builder
	for _, r := range norm.NFKD.String(strings.ToValidUTF8(name, "_")) {
		switch r = unicode.ToLower(r); {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			out.WriteString("ss")
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			out.WriteRune(r)
		case !strings.HasSuffix(out.String(), "_"):
			out.WriteByte('_')
		}
		if out.Len() >= maxName {
			break
		}
	}
	plain := strings.Trim(out.String(), "_")
	switch {
	case plain == "":
		return "t_" + shortHash(name)
	case plain[0] >= '0' && plain[0] <= '9':
		return "t_" + plain
	case slices.Contains(reserved, plain):
		return plain + "_table"
	}
	return plain
}

// reserved are words that the engine's SQL keeps for itself.
var reserved = strings.Fields(`all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default
	deferrable desc describe distinct do else end except false fetch for foreign from group having in initially intersect into lambda lateral leading limit
	not null offset on only or order pivot placing primary qualify references returning select show some summarize symmetric table then to trailing true
	union unique unpivot using variadic when where window with join left right inner outer full cross natural semi anti asof positional`)

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%x", sum[:3])
}

// A namer gives out names once each. Who comes first keeps the plain name; who
// comes after has the hash of what it is in its name, so that it stays the same.
type namer map[string]bool

func (n namer) name(want, of string) string {
	if n[strings.ToLower(want)] {
		want += "_" + shortHash(of)
	}
	n[strings.ToLower(want)] = true
	return want
}

// datasetID makes an id that can stand in a URL and a file name.
func datasetID(name string) string {
	fits := name != "" && len(name) <= maxName && name[0] != '.' && name[0] != '-'
	for i := range len(name) {
		c := name[i]
		fits = fits && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.')
	}
	if fits {
		return name
	}
	return plainName(name)
}

// printable is a file's name as it can be shown and encoded.
func printable(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, name)
}

func truncate(s string, n int) string {
	s = printable(s)
	if utf8.RuneCountInString(s) > n {
		return string([]rune(s)[:n]) + "…"
	}
	return s
}

func quoted(names []string) string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(shown, ", ")
}
