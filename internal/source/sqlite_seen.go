package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"interlock/internal/schema"
)

// A sqliteSeen counts what the values of a column are: SQLite lets it hold anything.
type sqliteSeen struct {
	Ints, Reals, Texts, Blobs int64
	Big                       int64 // whole numbers that a double does not hold
	NotBool                   int64 // numbers other than 0 and 1
	NotDecimal                int64 // numbers that the declared decimal does not hold
	Dates                     int64 // texts that are a date and no more
	Moments, MomentsUTC       int64 // texts that are a moment, without a zone or in UTC
	Printed                   int64 // moments without a zone, written as the embedded engine does
	JSON                      int64
	Broken                    int64 // texts that are not valid UTF-8
}

// A sqliteLook is what the declared type makes worth looking at.
type sqliteLook struct {
	times, json bool
	decimal     schema.Type
}

func lookFor(declared string) sqliteLook {
	return sqliteLook{
		times: strings.Contains(declared, "DATE") || strings.Contains(declared, "TIME"), json: strings.Contains(declared, "JSON"),
		decimal: declaredDecimal(declared),
	}
}

// declaredDecimal reads DECIMAL(p,s); the width is 0 if it is none.
func declaredDecimal(declared string) schema.Type {
	t := schema.ParseType(strings.ReplaceAll(declared, " ", "")).Plain()
	if t.Kind != schema.Decimal || t.Width < 1 || t.Width > 38 || t.Scale > t.Width {
		return schema.Type{}
	}
	return t
}

func (s *sqliteSeen) add(v sqliteValue, look sqliteLook) {
	switch v.Kind {
	case sqliteInt:
		s.Ints++
		if v.Int != 0 && v.Int != 1 {
			s.NotBool++
		}
		if v.Int > exactInFloat || v.Int < -exactInFloat {
			s.Big++
		}
		if look.decimal.Width > 0 && !fitsDecimal(strconv.AppendInt(nil, v.Int, 10), look.decimal) {
			s.NotDecimal++
		}
	case sqliteReal:
		s.Reals++
		if look.decimal.Width > 0 && !fitsDecimal(strconv.AppendFloat(nil, v.Real, 'f', -1, 64), look.decimal) {
			s.NotDecimal++
		}
	case sqliteText:
		s.text(v.Bytes, look)
	case sqliteBlob:
		s.Blobs++
	}
}

func (s *sqliteSeen) text(p []byte, look sqliteLook) {
	s.Texts++
	if !utf8.Valid(p) {
		s.Broken++
	}
	if look.json && json.Valid(p) {
		s.JSON++
	}
	if !look.times || len(p) < 10 || len(p) > 40 || p[0] == '0' && p[1] == '0' && p[2] == '0' && p[3] == '0' {
		return
	}
	if _, ok := parseDay(p[:10]); !ok {
		return
	}
	if len(p) == 10 {
		s.Dates++
		return
	}
	if p[10] != ' ' && p[10] != 'T' {
		return
	}
	bare := p[11:]
	for _, zone := range []string{"Z", "+00:00", "+00"} {
		if rest, ok := bytes.CutSuffix(bare, []byte(zone)); ok {
			if _, ok := parseClock(rest); ok {
				s.MomentsUTC++
			}
			return
		}
	}
	if _, ok := parseClock(bare); ok {
		s.Moments++
		if p[10] == ' ' && bare[len(bare)-1] != '0' || p[10] == ' ' && len(bare) == 8 {
			s.Printed++
		}
	}
}

// fitsDecimal says that a number has no more digits than a decimal.
func fitsDecimal(number []byte, t schema.Type) bool {
	whole, part, _ := bytes.Cut(bytes.TrimPrefix(number, []byte("-")), []byte("."))
	for _, c := range whole {
		if c < '0' || c > '9' {
			return false // infinity
		}
	}
	return len(part) <= t.Scale && (len(whole) <= t.Width-t.Scale || len(whole) == 1 && whole[0] == '0')
}

// columnType gives a column the type that all of its values survive: the declared one
// if it is that, otherwise that of the values, and text if they are of several.
func (s *sqliteSeen) columnType(declared string) schema.Type {
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(declared, w) {
				return true
			}
		}
		return false
	}
	numbers := s.Ints + s.Reals
	switch {
	case numbers+s.Texts+s.Blobs == 0:
		return emptyType(declared, says)
	case s.Blobs > 0 && numbers+s.Texts == 0:
		return schema.Type{Kind: schema.Bytes}
	case s.Texts > 0 && numbers+s.Blobs == 0:
		switch {
		case says("JSON") && s.JSON == s.Texts:
			return schema.Type{Kind: schema.JSON}
		case says("DATE", "TIME") && s.Dates == s.Texts:
			return schema.Type{Kind: schema.Date}
		case says("DATE", "TIME") && s.Moments == s.Texts:
			return schema.Type{Kind: schema.Timestamp}
		case says("DATE", "TIME") && s.MomentsUTC == s.Texts:
			return schema.Type{Kind: schema.TimestampTZ}
		}
		return schema.Type{Kind: schema.Text}
	case s.Texts+s.Blobs > 0:
		return schema.Type{Kind: schema.Text}
	case says("BOOL") && s.Reals == 0 && s.NotBool == 0:
		return schema.Type{Kind: schema.Bool}
	case declaredDecimal(declared).Width > 0 && s.NotDecimal == 0:
		return declaredDecimal(declared)
	case s.Reals == 0:
		return schema.Type{Kind: schema.Int}
	case s.Big == 0:
		return schema.Type{Kind: schema.Float}
	}
	return schema.Type{Kind: schema.Text}
}

// emptyType is the type of a column without values: the declared one.
func emptyType(declared string, says func(...string) bool) schema.Type {
	switch {
	case says("JSON"):
		return schema.Type{Kind: schema.JSON}
	case says("TIMESTAMP", "DATETIME") && says("TZ", "ZONE"):
		return schema.Type{Kind: schema.TimestampTZ}
	case says("TIMESTAMP", "DATETIME"):
		return schema.Type{Kind: schema.Timestamp}
	case declared == "DATE":
		return schema.Type{Kind: schema.Date}
	case says("CHAR", "CLOB", "TEXT"):
		return schema.Type{Kind: schema.Text}
	case says("BOOL"):
		return schema.Type{Kind: schema.Bool}
	case declaredDecimal(declared).Width > 0:
		return declaredDecimal(declared)
	case says("REAL", "FLOA", "DOUB", "DEC", "NUM"):
		return schema.Type{Kind: schema.Float}
	case says("INT"):
		return schema.Type{Kind: schema.Int}
	case says("BLOB"):
		return schema.Type{Kind: schema.Bytes}
	}
	return schema.Type{Kind: schema.Text}
}

// note says what a person should know of how a column comes in; nil is nothing.
func (c *sqliteColumn) note(t schema.Type) *schema.Note {
	s := &c.Seen
	numbers := s.Ints + s.Reals
	kept := func(count int64, format string, args ...any) *schema.Note {
		return &schema.Note{Column: c.Name, Rule: schema.RuleKeptText, Count: count, Message: fmt.Sprintf("%q ", c.Name) + fmt.Sprintf(format, args...)}
	}
	switch {
	case t.Kind != schema.Text:
		return nil
	case s.Broken > 0:
		n := kept(s.Broken, "has %d texts that are not valid UTF-8; their wrong bytes are shown as \uFFFD.", s.Broken)
		n.Rule = schema.RuleEncoding
		return n
	case s.Blobs > 0:
		return kept(s.Blobs, "holds %d values that are bytes beside others: it is text, and bytes are written as \\xHH.", s.Blobs)
	case s.Texts > 0 && numbers > 0:
		return kept(numbers, "holds %d numbers and %d texts: it is text.", numbers, s.Texts)
	case s.Texts > 0 && (strings.Contains(c.Declared, "DATE") || strings.Contains(c.Declared, "TIME")):
		return kept(s.Texts, "is declared %s, but its %d texts are not all of one such kind: it is text.", c.Declared, s.Texts)
	case numbers > 0:
		return kept(s.Big, "holds whole numbers beyond 2^53 beside fractions: it is text, so that no digit is lost.")
	}
	return nil
}
