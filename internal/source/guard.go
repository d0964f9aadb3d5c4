package source

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"interlock/internal/fault"
)

// maxStatement bounds the text of a statement that runs elsewhere.
const maxStatement = 64 << 10

// guard says whether a statement may run in another system: exactly one SELECT, and
// none of the words and functions by which a SELECT can do more than read the
// tables of its user. It knows no grammar, so it refuses too much rather than too
// little; the session, which only reads, is the second wall.
func guard(d Dialect, text string) error {
	refuse := func(format string, args ...any) error {
		return fault.New(fault.SQLPolicy, "at this source "+format, args...).
			Suggest("Send one SELECT over the source's own tables.")
	}
	switch {
	case len(text) > maxStatement:
		return refuse("a statement has at most %d bytes", maxStatement)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return refuse("a statement is valid UTF-8 without NUL")
	}
	tokens, ok := lex(d, text)
	if !ok {
		return refuse("a statement has closed quotes and no comments that are run")
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].text == ";" {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 || tokens[0].text != "select" && tokens[0].text != "with" {
		return refuse("only SELECT and WITH may run")
	}
	for i, t := range tokens {
		switch {
		case t.text == ";":
			return refuse("only one statement may run")
		case !t.word:
		case !t.quoted && slices.Contains(deniedWords, t.text):
			return refuse("the word %s may not appear", strings.ToUpper(t.text))
		case deniedName(t.text):
			return refuse("%s may not be used", t.text)
		case i+1 < len(tokens) && tokens[i+1].text == "(" && (i > 0 && tokens[i-1].text == "." || deniedFunction(t.text)):
			return refuse("the function %s may not be called", t.text)
		}
	}
	return nil
}

// Words that write, lock, change settings or send rows elsewhere.
var deniedWords = strings.Fields(`insert update delete merge upsert replace into copy create alter drop truncate grant revoke call do execute exec
	prepare deallocate set reset lock unlock notify listen unlisten vacuum analyze cluster reindex refresh load install attach detach import export
	outfile dumpfile handler begin commit rollback savepoint declare fetch move use kill system optimize rename exchange unload settings format share`)

// Functions that read files, reach other servers, wait, or change settings.
var deniedFunctions = strings.Fields(`load_file sleep benchmark get_lock release_lock release_all_locks is_free_lock is_used_lock set_config current_setting
	query_to_xml query_to_xmlschema query_to_xml_and_xmlschema table_to_xml table_to_xmlschema cursor_to_xml schema_to_xml database_to_xml xpath_table
	nextval setval txid_current file url urlcluster remote remotesecure cluster clusterallreplicas s3 s3cluster gcs hdfs mysql postgresql mongodb redis odbc jdbc
	sqlite executable input merge numbers_mt azureblobstorage deltalake iceberg hudi dictionary generaterandom view table query raw_query sys_exec sys_eval
	load_extension readfile writefile edit fts3_tokenizer sleepeachrow throwif version hostname currentuser user session_user system_user`)

func deniedFunction(name string) bool { return slices.Contains(deniedFunctions, name) }

// deniedName refuses catalogues and everything that names itself after the server.
func deniedName(name string) bool {
	for _, prefix := range []string{"pg_", "lo_", "dblink", "mysql_", "sqlite_", "pragma_", "xp_", "sp_", "binary_upgrade"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{"information_schema", "performance_schema", "sys", "mysql", "system", "pg_catalog"}, name)
}

type token struct {
	text   string // words in lower case
	word   bool   // a word or a quoted name
	quoted bool
}

// lex splits a statement into words, quoted names and signs; texts and numbers
// become signs of their own. Not ok: a quote is open, or a comment would be run.
func lex(d Dialect, s string) ([]token, bool) {
	var tokens []token
	backslashes := d == MySQL || d == ClickHouse || d == BigQuery
	for i := 0; i < len(s); {
		rest := s[i:]
		switch c := s[i]; {
		case strings.HasPrefix(rest, "--") || c == '#' && d == MySQL:
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				return tokens, true
			}
			i += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 || strings.ContainsAny(rest[2:n], "!+/*") {
				return nil, false // run by MySQL, or nested, which not all read alike
			}
			i += n + 2
		case c == '\'' || c == '"' || c == '`':
			n, ok := quotedLength(rest, c, backslashes || d == PostgreSQL && escaped(tokens, s[:i]))
			if !ok {
				return nil, false
			}
			if c == '\'' || c == '"' && d == MySQL {
				tokens = append(tokens, token{text: "'"})
			} else {
				tokens = append(tokens, token{text: strings.ToLower(rest[1 : n-1]), word: true, quoted: true})
			}
			i += n
		case c == '$' && d != MySQL:
			n, ok := dollarLength(rest)
			if !ok {
				return nil, false
			}
			tokens = append(tokens, token{text: "'"})
			i += n
		default:
			r, size := utf8.DecodeRuneInString(rest)
			if r != '_' && !unicode.IsLetter(r) {
				if !unicode.IsSpace(r) {
					tokens = append(tokens, token{text: string(r)})
				}
				i += size
				continue
			}
			n := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if n < 0 {
				n = len(rest)
			}
			word := strings.ToLower(rest[:n])
			if word == "u" && strings.HasPrefix(rest[n:], "&") {
				return nil, false // U&"…": a name in escapes
			}
			tokens = append(tokens, token{text: word, word: true})
			i += n
		}
	}
	return tokens, true
}

// escaped says that PostgreSQL's E stands right before a quote.
func escaped(tokens []token, before string) bool {
	return len(tokens) > 0 && tokens[len(tokens)-1] == (token{text: "e", word: true}) && strings.HasSuffix(strings.ToLower(before), "e")
}

// quotedLength gives the length of a text in quotes; a doubled quote is part of it.
func quotedLength(s string, quote byte, backslashes bool) (int, bool) {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && backslashes:
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1, true
		}
	}
	return 0, false
}

// dollarLength gives the length of $tag$…$tag$.
func dollarLength(s string) (int, bool) {
	end := strings.IndexByte(s[1:], '$')
	if end < 0 {
		return 0, false // a parameter, of which there are none
	}
	tag := s[:end+2]
	if close := strings.Index(s[len(tag):], tag); close >= 0 {
		return len(tag)*2 + close, true
	}
	return 0, false
}
