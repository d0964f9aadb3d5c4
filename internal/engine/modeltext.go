package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// modelJSON returns JSON as a model reads it best: characters that the encoder escapes for
// HTML as they are, and numbers without the noise of binary fractions (11632.37 for
// 11632.369999999999).
func modelJSON(raw []byte) string {
	var b strings.Builder
	b.Grow(len(raw))
	inText := false
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case inText && c == '\\' && i+1 < len(raw):
			if plain, ok := htmlEscapes[string(raw[i:min(i+6, len(raw))])]; ok {
				b.WriteByte(plain)
				i += 6
				continue
			}
			b.Write(raw[i : i+2])
			i += 2
			continue
		case c == '"':
			inText = !inText
		case !inText && (c == '-' || c >= '0' && c <= '9'):
			end := i + 1
			for end < len(raw) && strings.IndexByte("0123456789.eE+-", raw[end]) >= 0 {
				end++
			}
			b.WriteString(shortNumber(string(raw[i:end])))
			i = end
			continue
		}
		b.WriteByte(c)
		i++
	}
	return b.String()
}

var htmlEscapes = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&'}

// shortNumber writes a fraction with no more digits than a double holds for certain.
func shortNumber(text string) string {
	const sure = 15
	if len(text) <= sure+1 || !strings.ContainsAny(text, ".eE") {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	short := strconv.FormatFloat(f, 'g', sure, 64)
	if strings.ContainsAny(short, "eE") || len(short) >= len(text) {
		return text
	}
	return short
}

// plainJSONText encodes a value as a model reads it.
func plainJSONText(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return modelJSON(bytes.TrimSpace(b.Bytes()))
}

// shortenResult cuts a result to about so many bytes: the longest list of a record loses its
// last items, and `cut` says how many of how many are shown. What is no such record is cut
// as text.
func shortenResult(raw []byte, most int) string {
	text := modelJSON(raw)
	if len(text) <= most {
		return text
	}
	var rec map[string]json.RawMessage
	if json.Unmarshal(raw, &rec) == nil {
		if short, ok := shortenList(rec, most); ok {
			return short
		}
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("\n(cut: %s of %s bytes shown; ask for less)", groupDigits(most), groupDigits(len(text)))
}

// shortenList cuts the longest list of a record so that the record fits.
func shortenList(rec map[string]json.RawMessage, most int) (string, bool) {
	longest := ""
	for name, v := range rec {
		if len(v) > 0 && v[0] == '[' && (longest == "" || len(v) > len(rec[longest]) || len(v) == len(rec[longest]) && name < longest) {
			longest = name
		}
	}
	var items []json.RawMessage
	if longest == "" || json.Unmarshal(rec[longest], &items) != nil {
		return "", false
	}
	all := len(items)
	for len(items) > 0 {
		items = items[:len(items)*3/4]
		rec[longest] = mustJSON(items)
		rec["cut"] = mustJSON(fmt.Sprintf("%s: the first %s of %s are shown", longest, groupDigits(len(items)), groupDigits(all)))
		if text := modelJSON(mustJSON(rec)); len(text) <= most {
			return text, true
		}
	}
	return "", false
}
