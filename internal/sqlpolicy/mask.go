package sqlpolicy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A lexis is how an engine elsewhere reads the characters of a statement.
type lexis struct {
	backslash     bool   // \ escapes in a text
	nameBackslash bool   // \ escapes in a quoted name
	doubleText    bool   // "…" is a text, not a name
	hash          bool   // # begins a comment
	dashBlank     bool   // -- begins a comment only before a blank
	slashes       bool   // // begins a comment
	prefixes      string // words that change the text right after them
	refused       string // characters that mean what the parser here does not know
	bare          letterCase
	anyCase       bool // names are the same in any case, quoted or not
}

// A letterCase is what becomes of a name without quotes.
type letterCase uint8

const (
	kept letterCase = iota
	raised
)

// mask gives a statement in the quoting of the parser here, byte for byte as long as
// it was, so that places mean the same in both: comments become blanks, names get
// double quotes, and a text whose quoting differs becomes one of x of its length.
// What the two could read differently is refused.
func (d *Dialect) mask(sql string) (string, error) {
	m := masker{Dialect: d, sql: sql, out: []byte(sql)}
	for m.at < len(sql) {
		if err := m.token(); err != nil {
			return "", err
		}
	}
	return string(m.out), nil
}

type masker struct {
	*Dialect
	sql string
	out []byte
	at  int
}

func (m *masker) refuse(what, instead string) error {
	return deny(RuleUnknown, m.at, instead, "%s is not possible in a statement for %s.", what, m.Name)
}

func (m *masker) token() error {
	rest, l := m.sql[m.at:], m.lexis
	if quote := strings.IndexByte("'\"`$", rest[0]) >= 0; quote && m.at > 0 && strings.IndexByte(`'"`, m.out[m.at-1]) >= 0 {
		return m.refuse("A quote right behind another", "Put a blank or an operator between them.")
	}
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "--"):
		if l.dashBlank && len(rest) > 2 && rest[2] > ' ' {
			return m.refuse("-- without a blank after it", "Put a blank after -- or between two minus signs.")
		}
		return m.comment(strings.IndexByte(rest, '\n'))
	case c == '#' && l.hash:
		return m.comment(strings.IndexByte(rest, '\n'))
	case l.slashes && strings.HasPrefix(rest, "//"):
		return m.comment(strings.IndexByte(rest, '\n'))
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest[2:], "*/")
		if n < 0 || strings.Contains(rest[2:2+n], "/*") || n > 0 && strings.ContainsAny(rest[2:3], "!+") || n > 1 && rest[2:4] == "M!" {
			return m.refuse("A comment that is nested, open or a hint", "Leave the comment out.")
		}
		return m.comment(n + 4)
	case c == '\'' || c == '"' && l.doubleText:
		return m.text(c, l.backslash)
	case c == '"' || c == '`' && !strings.ContainsRune(l.refused, '`'):
		return m.name(c)
	case strings.IndexByte(l.refused, c) >= 0:
		return m.refuse("The character "+string(c), "Leave it out.")
	case c == '_' || c >= utf8.RuneSelf || unicode.IsLetter(rune(c)):
		return m.word()
	case c >= '0' && c <= '9':
		m.number()
		return nil
	}
	m.at++
	return nil
}

// comment blanks n bytes, or all that is left.
func (m *masker) comment(n int) error {
	if n < 0 {
		n = len(m.sql) - m.at
	}
	for i := m.at; i < m.at+n; i++ {
		m.out[i] = ' '
	}
	m.at += n
	return nil
}

// quoted gives the length of a quoted thing, and whether anything in it is escaped.
func quoted(s string, quote byte, backslash bool) (n int, escaped, ok bool) {
	for i := 1; i < len(s); i++ {
		switch {
		case backslash && s[i] == '\\':
			escaped = true
			i++
		case s[i] != quote:
		case i+1 < len(s) && s[i+1] == quote:
			escaped = true
			i++
		default:
			return i + 1, escaped, true
		}
	}
	return 0, false, false
}

// text masks a text from here; its content stays where both read it alike.
func (m *masker) text(quote byte, backslash bool) error {
	n, escaped, ok := quoted(m.sql[m.at:], quote, backslash)
	if !ok {
		return m.refuse("A quote that is not closed", "Close it.")
	}
	if m.prefixes() && n == 2 && m.at+2 < len(m.sql) && m.sql[m.at+2] == quote {
		return m.refuse("A text in three quotes", "Use one.")
	}
	body := m.out[m.at+1 : m.at+n-1]
	if escaped || quote != '\'' && strings.IndexByte(string(body), '\'') >= 0 {
		fill(body)
	}
	m.out[m.at], m.out[m.at+n-1] = '\'', '\''
	m.at += n
	return nil
}

func (m *masker) prefixes() bool { return m.lexis.prefixes != "" }

func fill(b []byte) {
	for i := range b {
		b[i] = 'x'
	}
}

func (m *masker) name(quote byte) error {
	n, escaped, ok := quoted(m.sql[m.at:], quote, m.lexis.nameBackslash)
	switch {
	case !ok:
		return m.refuse("A quote that is not closed", "Close it.")
	case escaped || n == 2 || quote != '"' && strings.IndexByte(m.sql[m.at:m.at+n], '"') >= 0:
		return m.refuse("A name that is empty or holds a quote", "Give it another name.")
	}
	m.out[m.at], m.out[m.at+n-1] = '"', '"'
	m.at += n
	return nil
}

// word passes a name or keyword. Letters and digits are what every engine takes
// for such; other signs beyond ASCII are blanks to some and names to others.
func (m *masker) word() error {
	begin := m.at
	for m.at < len(m.sql) {
		r, size := utf8.DecodeRuneInString(m.sql[m.at:])
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if r >= utf8.RuneSelf {
				return m.refuse("The character "+string(r), "Put names with other signs than letters and digits in quotes.")
			}
			break
		}
		if r == '$' {
			return m.refuse("The character $", "Put the name in quotes.")
		}
		m.at += size
	}
	if m.lexis.bare == raised {
		for i, c := range m.out[begin:m.at] {
			if c >= 'a' && c <= 'z' {
				m.out[begin+i] = c - ('a' - 'A')
			}
		}
	}
	word, next := fold(m.sql[begin:m.at]), byte(0)
	if m.at < len(m.sql) {
		next = m.sql[m.at]
	}
	switch {
	case m.keyword(word):
		m.at = begin
		return m.refuse(strings.ToUpper(word), "Leave it out, or put it in quotes if it is a name.")
	case word == "u" && next == '&':
		return m.refuse("U& before a quote", "Write the characters themselves.")
	case next != '\'' && next != '"':
	case word == "x" || word == "b" || word == "n":
		if m.prefixes() {
			return m.refuse("A text with a letter before it", "Write a plain text.")
		}
	case word == "e" || strings.Contains(" "+m.lexis.prefixes+" ", " "+word+" "):
		return m.refuse("A text with a letter before it", "Write a plain text.")
	}
	return nil
}

// unsaid are words that write, lock, or change how a statement runs in some engine,
// and that the parser here might take for a name.
var unsaid = names(`into outfile dumpfile settings format procedure`)

// keyword says that a bare word may not stand in a statement.
func (m *masker) keyword(word string) bool {
	if !unsaid[word] || m.words.functions[word] && m.called() {
		return false
	}
	return true
}

// called says that an opening bracket follows.
func (m *masker) called() bool {
	return strings.HasPrefix(strings.TrimLeft(m.sql[m.at:], " \t\r\n"), "(")
}

func (m *masker) number() {
	for m.at < len(m.sql) && (m.sql[m.at] >= '0' && m.sql[m.at] <= '9' || m.sql[m.at] == '.') {
		m.at++
	}
}
