package sqlpolicy

import (
	"strings"
	"unicode/utf8"

	"interlock/internal/dialect"
)

type tokenKind uint8

const (
	wordToken   tokenKind = iota // a keyword or a name without quotes
	nameToken                    // a name in quotes
	textToken                    // a text, without its quotes and escapes
	numberToken                  // as it was written
	signToken                    // an operator, a bracket, a comma
)

// A token is a word, name, text, number or sign of a statement.
type token struct {
	kind     tokenKind
	text     string
	at       int  // byte in the statement
	touching bool // no blank between it and the token before
}

// is says that a token is a keyword or a sign.
func (t token) is(text string) bool {
	return (t.kind == wordToken || t.kind == signToken) && fold(t.text) == text
}

func (t token) isName() bool { return t.kind == wordToken || t.kind == nameToken }

// signs that every engine reads alike, longer ones first.
var tokenSigns = strings.Fields("->> -> => <> <= >= != == || :: ( ) [ ] , . ; + - * / % < > = : ! & | ^ ~")

// A tokenizer cuts a statement into tokens. It refuses what engines cut differently.
type tokenizer struct {
	*Rules
	lexis dialect.Lexis
	sql   string
	at    int
}

func (r *Rules) refuse(at int, what, instead string) error {
	return deny(RuleUnknown, at, instead, "%s is not possible in a statement for %s.", what, r.dialect.Title())
}

// tokenize cuts a statement into tokens; semicolons at its end are dropped.
func (r *Rules) tokenize(sql string) ([]token, error) {
	t := &tokenizer{Rules: r, lexis: r.dialect.Lexis(), sql: sql}
	var tokens []token
	for {
		end := t.at
		if err := t.skipBlanks(); err != nil {
			return nil, err
		}
		if t.at >= len(sql) {
			break
		}
		next := token{at: t.at, touching: end == t.at}
		var err error
		if next.kind, next.text, err = t.next(); err != nil {
			return nil, err
		}
		if len(tokens) > 0 {
			if err := r.checkNeighbours(tokens[len(tokens)-1], next); err != nil {
				return nil, err
			}
		}
		tokens = append(tokens, next)
	}
	for len(tokens) > 1 && tokens[len(tokens)-1].is(";") {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens, nil
}

// checkNeighbours refuses tokens that engines join, or read as one thing.
func (r *Rules) checkNeighbours(last, next token) error {
	quoted := func(k tokenKind) bool { return k == textToken || k == nameToken }
	switch {
	case last.kind == textToken && next.kind == textToken:
		return r.refuse(next.at, "A text right behind another", "Join them with || or write one text.")
	case next.touching && quoted(next.kind) && last.kind != signToken:
		return r.refuse(next.at, "A quote right behind something else", "Put a blank or an operator before it, or write a plain text.")
	case next.touching && (next.kind == wordToken || next.kind == numberToken) && last.kind != signToken:
		return r.refuse(next.at, "A word right behind something else", "Put a blank between them.")
	case last.is(".") && !next.isName() && !next.is("*"):
		return r.refuse(next.at, "A point without a name behind it", "Write the name behind the point.")
	case next.is(".") && !last.isName() && !last.is(")") && !last.is("]"):
		return r.refuse(next.at, "A point without a name before it", "Write the name, or the zero, before the point.")
	}
	return nil
}

// skipBlanks passes blanks and comments.
func (t *tokenizer) skipBlanks() error {
	for t.at < len(t.sql) {
		rest := t.sql[t.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			t.at++
		case strings.HasPrefix(rest, "--") || t.lexis.SlashComments && strings.HasPrefix(rest, "//"):
			line, _, _ := strings.Cut(rest, "\n")
			if strings.IndexByte(strings.TrimSuffix(line, "\r"), '\r') >= 0 {
				return t.refuse(t.at, "A comment with a carriage return in it", "Leave the comment out.")
			}
			t.at += len(line)
		case strings.HasPrefix(rest, "/*"):
			body, _, closed := strings.Cut(rest[2:], "*/")
			if !closed || strings.Contains(body, "/*") || strings.HasPrefix(body, "!") || strings.HasPrefix(body, "+") || strings.HasPrefix(body, "M!") {
				return t.refuse(t.at, "A comment that is nested, open or a hint", "Leave the comment out.")
			}
			t.at += len(body) + 4
		default:
			return nil
		}
	}
	return nil
}

// next reads the token at the current position.
func (t *tokenizer) next() (tokenKind, string, error) {
	rest := t.sql[t.at:]
	switch c := rest[0]; {
	case c == '\'':
		text, err := t.quotedText()
		return textToken, text, err
	case c == '"' || c == '`' && t.lexis.Backticks:
		name, err := t.quotedName(c)
		return nameToken, name, err
	case c >= '0' && c <= '9':
		return numberToken, t.number(), nil
	case c < utf8.RuneSelf && wordByte(c):
		n := 1
		for n < len(rest) && rest[n] < utf8.RuneSelf && wordByte(rest[n]) {
			n++
		}
		t.at += n
		return wordToken, rest[:n], nil
	}
	for _, sign := range tokenSigns {
		if strings.HasPrefix(rest, sign) {
			t.at += len(sign)
			return signToken, sign, nil
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return 0, "", t.refuse(t.at, "The character "+string(r), "Leave it out, or put a name that has it in quotes.")
}

// textEscapes are the escapes that every engine that has any reads alike.
var textEscapes = map[byte]string{'\\': `\`, '\'': `'`, '"': `"`, '`': "`", 'n': "\n", 't': "\t", 'r': "\r", '%': `\%`, '_': `\_`}

// quotedText reads a text and gives what it means.
func (t *tokenizer) quotedText() (string, error) {
	const quote = '\''
	var out strings.Builder
	for i := t.at + 1; i < len(t.sql); i++ {
		switch c := t.sql[i]; {
		case c == '\\' && t.lexis.Backslash:
			if i++; i == len(t.sql) || textEscapes[t.sql[i]] == "" {
				return "", t.refuse(i-1, "This escape in a text", "Write the character itself.")
			}
			out.WriteString(textEscapes[t.sql[i]])
		case c == quote && i+1 < len(t.sql) && t.sql[i+1] == quote:
			out.WriteByte(quote)
			i++
		case c == quote:
			t.at = i + 1
			return out.String(), nil
		default:
			out.WriteByte(c)
		}
	}
	return "", t.refuse(t.at, "A quote that is not closed", "Close it.")
}

// quotedName reads a name in quotes, which may hold neither quotes nor escapes.
func (t *tokenizer) quotedName(quote byte) (string, error) {
	rest := t.sql[t.at+1:]
	name, after, closed := strings.Cut(rest, string(quote))
	switch {
	case !closed:
		return "", t.refuse(t.at, "A quote that is not closed", "Close it.")
	case name == "" || strings.ContainsAny(name, "\"`\\'\r\n\t") || strings.HasPrefix(after, string(quote)):
		return "", t.refuse(t.at, "A name that is empty or holds a quote", "Give it another name.")
	}
	t.at += len(name) + 2
	return name, nil
}

// number reads digits with a fraction and an exponent.
func (t *tokenizer) number() string {
	begin := t.at
	digits := func() {
		for t.at < len(t.sql) && t.sql[t.at] >= '0' && t.sql[t.at] <= '9' {
			t.at++
		}
	}
	digits()
	if t.at < len(t.sql) && t.sql[t.at] == '.' {
		t.at++
		digits()
	}
	if exponent := strings.TrimLeft(t.sql[t.at:], "eE"); len(exponent) == len(t.sql)-t.at-1 {
		power := strings.TrimPrefix(strings.TrimPrefix(exponent, "-"), "+")
		if len(exponent)-len(power) <= 1 && power != "" && power[0] >= '0' && power[0] <= '9' {
			t.at = len(t.sql) - len(power)
			digits()
		}
	}
	return t.sql[begin:t.at]
}
