package retrieve

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stopWords say nothing of what a question is about.
var stopWords = strings.Fields(`a about above after again all am an and any are as at be been before being below between both but by can could did do does doing done down during
each few for from further had has have having he her here hers him his how i if in into is it its itself let me more most my no nor not of off on once only or other our ours out over own
please same she should so some such than that the their theirs them then there these they this those through to too under until up us very was we were what when where which while who whom whose
why will with would you your yours tell give show find list get much many long does'nt does't doesn't don't isn't can't i'm it's what's`)

// germanStopWords are left out of questions in German only: some of them mean something in English.
var germanStopWords = strings.Fields(`ab aber alle als am an auch auf aus bei bin bis bist da darf das dass dem den der des die dies diese dieser dieses du ein eine einem einen einer eines er es
für gibt hab habe haben hat hatte ich ihr im in ist ja kann kein keine man mehr mein meine mich mir mit muss nach nicht noch nur ob oder ohne sein seine sich sie sind so soll um und uns unser
vom von vor wann war warum was wen wenn wer werden wie wir wird wo wofür woher wohin wurde wurden zu zum zur über welche welchem welchen welcher welches viel viele vielen
brauche brauchen braucht können müssen`)

// germanQuestionWords begin questions in German and mean nothing in English.
var germanQuestionWords = strings.Fields(`wer wen wem wie wo wann warum wieso welche welchem welchen welcher welches wofür woher wohin werden wird gibt kann darf muss soll hat haben ist sind`)

// isGerman reports whether a text has more of the small words of German than of English: two, or one that it
// begins with. A list or a table has small words of neither: there the glossary tells.
func isGerman(words []string) bool {
	german, english := 0, 0
	if len(words) > 0 && slices.Contains(germanQuestionWords, words[0]) {
		german++
	}
	for _, w := range words {
		if slices.Contains(germanStopWords, w) {
			german++
		}
		if slices.Contains(stopWords, w) {
			english++
		}
	}
	if german+english == 0 {
		return loadGlossary().knowsMost(words)
	}
	return german >= 2 && german > english
}

const (
	maxTerms    = 24
	maxQuestion = 8 << 10
)

// questionWords are all words of a question, in lower case.
func questionWords(text string) []string {
	if len(text) > maxQuestion {
		text = strings.ToValidUTF8(text[:maxQuestion], "")
	}
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// questionTerms are the words of a question that are worth looking for, each once. A German word is
// looked for by its beginning, which ends in "*": so urlaub finds Urlaubstage, and melden Meldung.
func questionTerms(text string) []string {
	words := questionWords(text)
	german := isGerman(words)
	var terms []string
	for _, w := range words {
		if slices.Contains(stopWords, w) || german && slices.Contains(germanStopWords, w) || len(w) == 1 && !unicode.IsNumber(rune(w[0])) {
			continue
		}
		if german {
			w = germanBeginning(w)
		}
		if slices.Contains(terms, w) {
			continue
		}
		if terms = append(terms, w); len(terms) == maxTerms {
			break
		}
	}
	return terms
}

// germanEndings are those of inflected German words, longer ones first.
var germanEndings = []string{"ungen", "enen", "ern", "est", "ung", "en", "er", "es", "em", "et", "st", "e", "n", "s", "t"}

// germanBeginning returns what the forms and compounds of a German word begin with, and "*".
func germanBeginning(word string) string {
	for _, ending := range germanEndings {
		if rest, ok := strings.CutSuffix(word, ending); ok && utf8.RuneCountInString(rest) >= 4 {
			return rest + "*"
		}
	}
	if utf8.RuneCountInString(word) >= 4 && !strings.ContainsFunc(word, unicode.IsNumber) {
		return word + "*"
	}
	return word
}

// matchTerm writes a term as the full-text index takes it.
func matchTerm(term string) string {
	if beginning, ok := strings.CutSuffix(term, "*"); ok {
		return `"` + beginning + `"*`
	}
	return `"` + term + `"`
}

// splitName gives the words of an identifier: order_lineItems2024 is order, line, Items, 2024.
func splitName(name string) []string {
	var out []string
	begin := 0
	runes := []rune(name)
	kind := func(r rune) int {
		switch {
		case unicode.IsUpper(r):
			return 1
		case unicode.IsLetter(r):
			return 2
		case unicode.IsNumber(r):
			return 3
		}
		return 0
	}
	for i := 1; i <= len(runes); i++ {
		if i < len(runes) {
			before, now := kind(runes[i-1]), kind(runes[i])
			lastCapital := before == 1 && now == 1 && i+1 < len(runes) && kind(runes[i+1]) == 2
			if before == now && !lastCapital || before == 1 && now == 2 {
				continue
			}
		}
		if kind(runes[begin]) != 0 {
			out = append(out, string(runes[begin:i]))
		}
		begin = i
	}
	return out
}

func extension(file string) string { return path.Ext(file) }

// A wordQuery is a question as the full-text index takes it.
type wordQuery struct {
	match string  // OR of the terms; "" looks for nothing
	most  float64 // the score of a text that has every term often
}

const (
	bm25K1 = 1.2 // FTS5 scores with BM25 and this constant
	// enoughMatches bounds what a question costs: once its rarer terms match so many texts, the more
	// frequent ones are not looked for. They say little.
	enoughMatches = 2000
	maxMatches    = 20_000 // of a question whose rarest term is frequent
)

// prepareWords looks up how rare the terms are, so that scores can be compared between questions. A term that no text
// has counts like the rarest: a question about it is not answered by its other words.
func prepareWords(ctx context.Context, tx *sql.Tx, index string, texts int, terms []string) (wordQuery, error) {
	var q wordQuery
	type counted struct {
		term   string
		having int
	}
	var found []counted
	if len(terms) == 0 {
		return q, nil
	}
	one := "SELECT ?, count(*) FROM " + index + " WHERE " + index + " MATCH ?"
	var args []any
	for i, t := range terms {
		args = append(args, i, matchTerm(t))
	}
	counts := make([]int, len(terms))
	if err := eachRow(ctx, tx, func(rows *sql.Rows) error {
		var i, n int
		err := rows.Scan(&i, &n)
		counts[i] = n
		return err
	}, one+strings.Repeat(" UNION ALL "+one, len(terms)-1), args...); err != nil {
		return q, err
	}
	for i, t := range terms {
		c := counted{matchTerm(t), counts[i]}
		having := float64(max(c.having, 1))
		rarity := math.Log((float64(texts) - having + 0.5) / (having + 0.5))
		q.most += max(rarity, 1e-6) * (bm25K1 + 1)
		if c.having > 0 {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b counted) int { return cmp.Compare(a.having, b.having) })
	matches := 0
	var kept []string
	for _, c := range found {
		if matches += c.having; matches > enoughMatches && len(kept) > 0 {
			break
		}
		kept = append(kept, c.term)
	}
	q.match = strings.Join(kept, " OR ")
	return q, nil
}

// share turns a BM25 score of FTS5, which is negative, into a share of the best possible one.
func (q wordQuery) share(score float64) float64 {
	if q.most <= 0 {
		return 0
	}
	return min(1, max(0, -score/q.most))
}
