package query

import (
	"strings"
	"unicode"
)

// A cellFormat is what a number format of a workbook says about the numbers under it.
type cellFormat uint8

const (
	formatNumber   cellFormat = iota
	formatPercent             // shown times a hundred
	formatDate                // a day
	formatMoment              // a day and a time
	formatTime                // a time of day
	formatDuration            // hours beyond 24: [h]:mm
	formatText
)

func (f cellFormat) isDate() bool {
	return f == formatDate || f == formatMoment || f == formatTime || f == formatDuration
}

// builtinFormat knows the formats that a workbook names by number alone. Those of 27 to
// 36 and 50 to 58 are dates of East Asian calendars.
func builtinFormat(id int) cellFormat {
	switch {
	case id == 9 || id == 10:
		return formatPercent
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 34 || id == 35 || id == 36, id >= 50 && id <= 58:
		return formatDate
	case id >= 18 && id <= 21, id == 32 || id == 33, id == 45 || id == 47:
		return formatTime
	case id == 22:
		return formatMoment
	case id == 46:
		return formatDuration
	case id == 49:
		return formatText
	}
	return formatNumber
}

// A formatToken is a part of a number format.
type formatToken struct {
	kind tokenKind
	text string // letters in lower case
}

type tokenKind uint8

const (
	tokenLiteral tokenKind = iota // shown as it is: quoted, escaped, a filler
	tokenDigit                    // 0 # ?
	tokenPercent
	tokenText    // @
	tokenGeneral // General
	tokenPart    // a run of y m d h s e g b a
	tokenElapsed // [h] [mm] [ss]
	tokenHalfDay // AM/PM
	tokenExponent
	tokenPoint
	tokenNext // ; begins the next section
)

// tokenizeFormat splits a number format. It never fails: what is no code is shown as it is.
func tokenizeFormat(format string) []formatToken {
	var out []formatToken
	runes := []rune(format)
	add := func(kind tokenKind, text string) { out = append(out, formatToken{kind, strings.ToLower(text)}) }
	has := func(i int, word string) bool {
		return i+len(word) <= len(runes) && strings.EqualFold(string(runes[i:i+len(word)]), word)
	}
	for i := 0; i < len(runes); {
		r := runes[i]
		switch {
		case r == '"':
			end := i + 1
			for end < len(runes) && runes[end] != '"' {
				end++
			}
			add(tokenLiteral, string(runes[i+1:end]))
			i = end + 1
		case r == '\\' || r == '_' || r == '*' || r == '!':
			if i+1 < len(runes) {
				add(tokenLiteral, string(runes[i+1]))
			}
			i += 2
		case r == '[':
			end := i + 1
			for end < len(runes) && runes[end] != ']' {
				end++
			}
			inside := strings.ToLower(string(runes[i+1 : end]))
			if inside != "" && (strings.Trim(inside, "h") == "" || strings.Trim(inside, "m") == "" || strings.Trim(inside, "s") == "") {
				add(tokenElapsed, inside)
			} else {
				add(tokenLiteral, "") // a colour, a condition, a locale
			}
			i = end + 1
		case has(i, "general"):
			add(tokenGeneral, "general")
			i += len("general")
		case has(i, "am/pm"):
			add(tokenHalfDay, "am/pm")
			i += len("am/pm")
		case has(i, "a/p"):
			add(tokenHalfDay, "a/p")
			i += len("a/p")
		case r == '上' && i+4 < len(runes) && string(runes[i:i+5]) == "上午/下午":
			add(tokenHalfDay, "am/pm")
			i += 5
		case (r == 'e' || r == 'E') && i+1 < len(runes) && (runes[i+1] == '+' || runes[i+1] == '-'):
			add(tokenExponent, "e")
			i += 2
		case r == ';':
			add(tokenNext, ";")
			i++
		case r == '0' || r == '#' || r == '?':
			add(tokenDigit, string(r))
			i++
		case r == '%':
			add(tokenPercent, "%")
			i++
		case r == '@':
			add(tokenText, "@")
			i++
		case r == '.':
			add(tokenPoint, ".")
			i++
		case strings.ContainsRune("ymdhsegba", unicode.ToLower(r)):
			end := i
			for end < len(runes) && unicode.ToLower(runes[end]) == unicode.ToLower(r) {
				end++
			}
			add(tokenPart, string(runes[i:end]))
			i = end
		default:
			add(tokenLiteral, string(r))
			i++
		}
	}
	return out
}

// parseFormat says what a number format is for. Its first section, that of positive
// numbers, decides.
func parseFormat(format string) cellFormat {
	tokens := tokenizeFormat(format)
	for i, t := range tokens {
		if t.kind == tokenNext {
			tokens = tokens[:i]
			break
		}
	}
	var day, clock, elapsed, digit, percent, text bool
	last := "" // the part before
	for i, t := range tokens {
		switch t.kind {
		case tokenElapsed:
			elapsed, last = true, t.text
		case tokenHalfDay:
			clock = true
		case tokenDigit:
			// Zeros behind the point of seconds are a fraction of them.
			if !(strings.HasPrefix(last, "s") && followsSeconds(tokens[:i])) {
				digit = true
			}
		case tokenGeneral, tokenExponent:
			digit = true
		case tokenPercent:
			percent = true
		case tokenText:
			text = true
		case tokenPart:
			switch t.text[0] {
			case 'h', 's':
				clock = true
			case 'm':
				if len(t.text) <= 2 && (strings.HasPrefix(last, "h") || strings.HasPrefix(nextPart(tokens[i+1:]), "s")) {
					clock = true
				} else {
					day = true
				}
			case 'a':
				if len(t.text) < 3 {
					continue // no weekday
				}
				day = true
			default:
				day = true
			}
			last = t.text
		}
	}
	switch {
	case digit && percent:
		return formatPercent
	case digit:
		return formatNumber
	case elapsed && !day:
		return formatDuration
	case day && clock:
		return formatMoment
	case day:
		return formatDate
	case clock:
		return formatTime
	case percent:
		return formatPercent
	case text:
		return formatText
	}
	return formatNumber
}

// followsSeconds says that a digit stands behind the point, or the digits, of seconds.
func followsSeconds(before []formatToken) bool {
	for i := len(before) - 1; i >= 0; i-- {
		switch before[i].kind {
		case tokenDigit:
		case tokenPoint:
			return i > 0 && (before[i-1].kind == tokenPart || before[i-1].kind == tokenElapsed)
		default:
			return false
		}
	}
	return false
}

func nextPart(tokens []formatToken) string {
	for _, t := range tokens {
		if t.kind == tokenPart || t.kind == tokenElapsed {
			return t.text
		}
	}
	return ""
}
