package sqlpolicy

import (
	"strings"
	"unicode/utf8"
)

// checkText looks at the text before any parser does: length, encoding, control
// characters (the engine's C strings end at NUL) and brackets, which cost the
// engine's parser stack.
func checkText(sql string, limits Limits) error {
	if len(sql) > limits.Bytes {
		return deny(RuleTooLong, -1, "Write a shorter statement.", "The statement has %d bytes; at most %d are allowed.", len(sql), limits.Bytes)
	}
	if !utf8.ValidString(sql) {
		return deny(RuleEncoding, -1, "Send UTF-8 text.", "The statement is not valid UTF-8.")
	}
	open := 0
	for i := range len(sql) {
		switch c := sql[i]; {
		case c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f:
			return deny(RuleEncoding, i, "Remove it.", "The statement contains the control character U+%04X.", c)
		case c == '(' || c == '[' || c == '{':
			if open++; open > limits.Brackets {
				return deny(RuleTooDeep, i, "Use WITH to name the inner parts.", "More than %d brackets are open at once.", limits.Brackets)
			}
		case c == ')' || c == ']' || c == '}':
			open = max(0, open-1)
		}
	}
	return nil
}

// tokenEnd gives the end of the token that begins at i: a quoted thing, a comment, a
// word, or one byte. It follows the engine's scanner closely enough to find where
// a statement ends; whatever it finds is parsed by the engine again.
func tokenEnd(sql string, i int) (end int, blank bool) {
	switch c := sql[i]; {
	case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		return i + 1, true
	case c == '\'' || c == '"':
		return skipQuoted(sql, i+1, c, false), false
	case (c == 'e' || c == 'E') && i+1 < len(sql) && sql[i+1] == '\'':
		return skipQuoted(sql, i+2, '\'', true), false
	case strings.HasPrefix(sql[i:], "--"):
		if n := strings.IndexAny(sql[i:], "\n\r"); n >= 0 {
			return i + n, true
		}
		return len(sql), true
	case strings.HasPrefix(sql[i:], "/*"):
		return skipComment(sql, i), true
	case c == '$':
		return skipDollar(sql, i), false
	case wordByte(c):
		for i < len(sql) && (wordByte(sql[i]) || sql[i] == '$') {
			i++
		}
		return i, false
	}
	return i + 1, false
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func skipQuoted(sql string, i int, quote byte, backslash bool) int {
	for i < len(sql) {
		switch {
		case backslash && sql[i] == '\\':
			i++
		case sql[i] == quote:
			if i+1 >= len(sql) || sql[i+1] != quote {
				return i + 1
			}
			i++
		}
		i++
	}
	return len(sql)
}

func skipComment(sql string, i int) int {
	depth := 0
	for i < len(sql) {
		switch {
		case strings.HasPrefix(sql[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(sql[i:], "*/"):
			i += 2
			if depth--; depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(sql)
}

func skipDollar(sql string, i int) int {
	end := strings.IndexByte(sql[i+1:], '$')
	if end < 0 {
		return i + 1
	}
	tag := sql[i : i+end+2]
	for _, c := range []byte(tag[1 : len(tag)-1]) {
		if !wordByte(c) {
			return i + 1
		}
	}
	if n := strings.Index(sql[i+len(tag):], tag); n >= 0 {
		return i + len(tag) + n + len(tag)
	}
	return len(sql)
}

// cutSemicolon cuts the semicolon that ends the statement and what follows it, if that is
// only blanks, comments and semicolons. Otherwise it gives the text unchanged.
func cutSemicolon(sql string) string {
	cut, something := -1, false
	for i := 0; i < len(sql); {
		end, blank := tokenEnd(sql, i)
		switch {
		case blank:
		case sql[i] == ';':
			if something && cut < 0 {
				cut = i
			}
		default:
			if cut >= 0 {
				return sql
			}
			something = true
		}
		i = end
	}
	if cut < 0 {
		return sql
	}
	return sql[:cut]
}

// fold compares names as the engine does: only ASCII letters lose their case.
// Folding more would let a CTE "h\u0130dden" stand for the table hidden.
func fold(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
