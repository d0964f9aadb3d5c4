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

// A term is a word of a question with the forms that it is looked for by. A form that ends in "*" is a beginning.
type term []string

// questionTerms are the words of a question that are worth looking for, each once. A German word is looked for by its
// beginning, so that urlaub finds Urlaubstage, and by its English ones: they find its synonyms in the glosses of German
// passages, and English ones.
func questionTerms(text string) []term {
	words := questionWords(text)
	german := isGerman(words)
	var terms []term
	for _, w := range words {
		if slices.Contains(stopWords, w) || german && slices.Contains(germanStopWords, w) || len(w) == 1 && !unicode.IsNumber(rune(w[0])) {
			continue
		}
		forms := term{w}
		if german {
			forms = germanForms(w)
		}
		if slices.ContainsFunc(terms, func(t term) bool { return t[0] == forms[0] }) {
			continue
		}
		if terms = append(terms, forms); len(terms) == maxTerms {
			break
		}
	}
	return terms
}

// germanForms are the beginning of a German word and its English words that mean something.
func germanForms(word string) term {
	forms := term{germanBeginning(word)}
	for english := range strings.FieldsSeq(strings.ToLower(loadGlossary().find(word))) {
		if !slices.Contains(stopWords, english) && !slices.Contains(forms, english) {
			forms = append(forms, english)
		}
	}
	return forms
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

// matchForm writes a form of a term as the full-text index takes it.
func matchForm(form string) string {
	if beginning, ok := strings.CutSuffix(form, "*"); ok {
		return `"` + beginning + `"*`
	}
	return `"` + form + `"`
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
func prepareWords(ctx context.Context, tx *sql.Tx, index string, texts int, terms []term) (wordQuery, error) {
	var q wordQuery
	forms := slices.Concat(terms...)
	if len(forms) == 0 {
		return q, nil
	}
	counts, err := countForms(ctx, tx, index, forms)
	if err != nil {
		return q, err
	}
	type counted struct {
		form   string
		having int
	}
	var found []counted
	for _, t := range terms {
		weight := 0.0
		for _, form := range t {
			if having := counts[form]; having > 0 {
				found = append(found, counted{matchForm(form), having})
				weight += rarity(texts, having)
			}
		}
		if weight == 0 {
			weight = rarity(texts, 1)
		}
		q.most += weight * (bm25K1 + 1)
	}
	slices.SortStableFunc(found, func(a, b counted) int { return cmp.Compare(a.having, b.having) })
	matches := 0
	var kept []string
	for _, c := range found {
		if matches += c.having; matches > enoughMatches && len(kept) > 0 {
			break
		}
		kept = append(kept, c.form)
	}
	q.match = strings.Join(kept, " OR ")
	return q, nil
}

// rarity is the weight of a form in BM25, which is never nothing.
func rarity(texts, having int) float64 {
	return max(1e-6, math.Log((float64(texts)-float64(having)+0.5)/(float64(having)+0.5)))
}

// countForms returns how many texts have each form.
func countForms(ctx context.Context, tx *sql.Tx, index string, forms []string) (map[string]int, error) {
	one := "SELECT ?, count(*) FROM " + index + " WHERE " + index + " MATCH ?"
	var args []any
	for _, form := range forms {
		args = append(args, form, matchForm(form))
	}
	counts := map[string]int{}
	err := eachRow(ctx, tx, func(rows *sql.Rows) error {
		var form string
		var n int
		err := rows.Scan(&form, &n)
		counts[form] = n
		return err
	}, one+strings.Repeat(" UNION ALL "+one, len(forms)-1), args...)
	return counts, err
}

// share turns a BM25 score of FTS5, which is negative, into a share of the best possible one.
func (q wordQuery) share(score float64) float64 {
	if q.most <= 0 {
		return 0
	}
	return min(1, max(0, -score/q.most))
}
