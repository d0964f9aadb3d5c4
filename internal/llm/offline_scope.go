package llm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"interlock/internal/nlq"
)

// askScope begins the question for the rows that are meant.
const askScope = "Before I load the rows: "

// requestText is what the person asks for: the message of this turn, after those to which
// the model only answered with a question of its own.
func requestText(req Request) string {
	text, _ := findQuestion(req.Messages)
	asked := false // the model's question that this answers is passed
	for _, m := range slices.Backward(req.History) {
		switch {
		case m.Role == ToolRole || m.Role == Assistant && len(m.Calls) > 0: // of a turn
		case m.Role == Assistant && !asked && (strings.HasPrefix(m.Text, askSources) || strings.HasPrefix(m.Text, askScope)):
			asked = true
		case m.Role == User && asked:
			text, asked = withoutDataset(m.Text)+"\n"+text, false
		default:
			return text
		}
	}
	return text
}

// A scopedSide is a source with the rows of it that a person asked for.
type scopedSide struct {
	alias      string
	columns    []sideColumn
	conditions []map[string]any
	words      []string // the conditions for people
}

type sideColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// scopeStep loads both sides, with the limits that the person wrote: comparisons, and days
// such as "of October 2025". A limit that it cannot place is asked about.
func scopeStep(req Request, now time.Time) Reply {
	aliases := enumOf(req, scopeCall, "alias")
	if len(aliases) != 2 {
		return Reply{Text: "I do not know which two sources to load. " + stronger, Stop: StopRefusal}
	}
	for _, m := range req.Messages {
		var loaded struct {
			Alias     string `json:"alias"`
			TotalRows *int   `json:"total_rows"`
		}
		if m.Role == ToolRole && m.Name == scopeCall && !m.Failed && json.Unmarshal([]byte(m.Text), &loaded) == nil && loaded.TotalRows != nil && *loaded.TotalRows == 0 {
			return Reply{Text: fmt.Sprintf("%s has no rows under these limits. Name others, such as `amount > 100`.", loaded.Alias), Stop: StopQuestion}
		}
	}
	sides, problem := readScope(req, aliases, now)
	if problem != "" {
		return Reply{Text: askScope + problem + " Or say `all rows`.", Stop: StopQuestion}
	}
	var args, words []string
	for _, s := range sides {
		args = append(args, encodeArguments(map[string]any{"alias": s.alias, "conditions": s.conditions}))
		if len(s.words) == 0 {
			words = append(words, "all rows of "+s.alias)
		} else {
			words = append(words, fmt.Sprintf("the rows of %s with %s", s.alias, strings.Join(s.words, " and ")))
		}
	}
	r := callTools(scopeCall, args...)
	r.Text = fmt.Sprintf("I load %s, and %s.", words[0], words[1])
	return r
}

var everyRow = regexp.MustCompile(`(?i)\b(all|every) (the )?rows?\b|\balle zeilen\b`)

// otherScope is a person's wish for other rows that does not say which: the label of the
// command, or such words.
var otherScope = regexp.MustCompile(`(?i)^\s*(please )?(choose |take )?(another|other|a different) scope\W*$`)

// readScope finds the limits of both sides in what the person wrote, or says what is not
// clear about them.
func readScope(req Request, aliases []string, now time.Time) ([]*scopedSide, string) {
	text, latest := requestText(req), lastMessage(req.Messages[:min(1, len(req.Messages))]).Text
	sides := make([]*scopedSide, len(aliases))
	for i, title := range []string{"Left source", "Right source"} {
		sides[i] = &scopedSide{alias: aliases[i], conditions: []map[string]any{}}
		var s struct {
			Columns []sideColumn `json:"columns"`
		}
		_ = json.Unmarshal([]byte(strings.Join(promptSection(req.System, title), "\n")), &s) // without columns nothing fits
		sides[i].columns = s.Columns
	}
	if everyRow.MatchString(latest) {
		return sides, ""
	}
	if otherScope.MatchString(latest) {
		return nil, fmt.Sprintf("which ones are meant now? Name days, or write a condition such as `%s.%s`.", aliases[0], exampleCondition(sides[0].columns))
	}
	for _, s := range sides {
		s.addWritten(text)
	}
	rest := writtenCondition.ReplaceAllStringFunc(text, blank)
	for _, alias := range aliases {
		rest = blankWord(rest, alias)
	}
	for _, span := range nlq.Spans(rest, now) {
		meant, problem := sidesOfSpan(text, span, sides)
		if problem != "" {
			return nil, problem
		}
		for _, s := range meant {
			if problem := s.addSpan(text, text[span.At:span.End], span); problem != "" {
				return nil, problem
			}
		}
	}
	for _, span := range nlq.Spans(rest, now) {
		rest = rest[:span.At] + blank(rest[span.At:span.End]) + rest[span.End:]
	}
	if number := numberInText.FindString(rest); number != "" {
		return nil, fmt.Sprintf("what does %s limit? Write it as a condition, such as `%s.%s`.", number, aliases[0], exampleCondition(sides[0].columns))
	}
	return sides, ""
}

var numberInText = regexp.MustCompile(`\d[\pL\d.,/-]*`)

// blank keeps the place of a text that has been read.
func blank(text string) string { return strings.Repeat(" ", len(text)) }

// blankWord takes a source's alias out of a text, because it may have digits.
func blankWord(text, alias string) string {
	return regexp.MustCompile(`(?i)`+regexp.QuoteMeta(alias)).ReplaceAllStringFunc(text, blank)
}

func exampleCondition(columns []sideColumn) string {
	if len(columns) == 0 {
		return "amount > 100"
	}
	return columns[len(columns)-1].Name + " > 100"
}

var bothSides = regexp.MustCompile(`(?i)\b(both|beide)\b`)

// sidesOfSpan says which sides days are about: both where "and" joins the two or none comes
// before, the source before them where a column of it is named or the other has no dates.
// An answer that names sources, or "both", decides; else it is asked about.
func sidesOfSpan(text string, span nlq.Span, sides []*scopedSide) ([]*scopedSide, string) {
	sources := []namedSource{{Alias: sides[0].alias}, {Alias: sides[1].alias}}
	if _, answers, ok := strings.Cut(text[span.End:], "\n"); ok {
		if bothSides.MatchString(answers) {
			return sides, ""
		}
		if named := mentionsIn(answers, sources); len(named) > 0 {
			return sidesNamed(named, sides), ""
		}
	}
	named := mentionsIn(text[:span.At], sources)
	if len(named) == 0 || len(named) == 2 && joinedByAnd(text[named[0].at:named[1].at]) {
		return sides, ""
	}
	if len(named) == 1 {
		meant := sidesNamed(named, sides)
		other := sides[1-slices.Index(sides, meant[0])]
		if meant[0].namesDate(text) || len(other.dates()) == 0 {
			return meant, ""
		}
	}
	alias := named[len(named)-1].alias
	return nil, fmt.Sprintf("is %q about %s only, or about both? Answer `%s` or `both`.", text[span.At:span.End], alias, alias)
}

// joinedByAnd says that a text from one source to the next joins the two.
func joinedByAnd(text string) bool {
	words := strings.Fields(strings.ToLower(text))
	return slices.Contains(words, "and") || slices.Contains(words, "und") || slices.Contains(words, "&")
}

func sidesNamed(named []mention, sides []*scopedSide) []*scopedSide {
	return slices.DeleteFunc(slices.Clone(sides), func(s *scopedSide) bool {
		return !slices.ContainsFunc(named, func(m mention) bool { return m.alias == s.alias })
	})
}

// addSpan limits a side to days, or says why that cannot be done.
func (s *scopedSide) addSpan(text, said string, span nlq.Span) string {
	column, problem := s.dateColumn(text, said)
	if problem != "" {
		return problem
	}
	var words []string
	if !span.From.IsZero() {
		s.conditions = append(s.conditions, map[string]any{"column": column, "op": "gte", "value": span.From.Format(time.DateOnly)})
		words = append(words, "from "+span.From.Format(time.DateOnly))
	}
	if !span.Until.IsZero() { // the days of a time stamp end when the next one begins
		s.conditions = append(s.conditions, map[string]any{"column": column, "op": "lt", "value": span.Until.Format(time.DateOnly)})
		words = append(words, "to "+span.Until.AddDate(0, 0, -1).Format(time.DateOnly))
	}
	s.words = append(s.words, column+" "+strings.Join(words, " "))
	return ""
}

// dates lists the columns of dates.
func (s *scopedSide) dates() (out []string) {
	for _, c := range s.columns {
		if kind := strings.ToUpper(c.Type); strings.HasPrefix(kind, "DATE") || strings.HasPrefix(kind, "TIMESTAMP") {
			out = append(out, c.Name)
		}
	}
	return out
}

// namesDate says that a text names a column of dates.
func (s *scopedSide) namesDate(text string) bool {
	return slices.ContainsFunc(s.dates(), func(column string) bool { return namesColumn(text, column) })
}

// namesColumn says that a text has a column's name, as it is or in words.
func namesColumn(text, column string) bool {
	text, column = strings.ToLower(text), strings.ToLower(column)
	return strings.Contains(text, column) || strings.Contains(text, strings.ReplaceAll(column, "_", " "))
}

// dateColumn finds the column that days are about: the only one, the one that the text
// names, or the one that is called like the source.
func (s *scopedSide) dateColumn(text, said string) (column, problem string) {
	dates := s.dates()
	switch len(dates) {
	case 0:
		return "", fmt.Sprintf("%s has no column of dates by which I could choose %q. Write a condition on another column, such as `%s.%s`.", s.alias, said, s.alias, exampleCondition(s.columns))
	case 1:
		return dates[0], ""
	}
	for _, fits := range []func(name string) bool{
		func(name string) bool { return namesColumn(text, name) },
		func(name string) bool {
			return slices.ContainsFunc(wordInText.FindAllString(strings.ReplaceAll(s.alias, "_", " "), -1), func(word string) bool {
				return slices.ContainsFunc(strings.Split(name, "_"), func(part string) bool { return stem(part) == stem(strings.ToLower(word)) })
			})
		},
	} {
		var found []string
		for _, d := range dates {
			if fits(strings.ToLower(d)) {
				found = append(found, d)
			}
		}
		if len(found) == 1 {
			return found[0], ""
		}
	}
	return "", fmt.Sprintf("%s has the dates %s. Which of them do you mean?", s.alias, strings.Join(dates, ", "))
}

// enumOf lists the values that an argument of an offered tool may have.
func enumOf(req Request, tool, argument string) []string {
	i := slices.IndexFunc(req.Tools, func(t Tool) bool { return t.Name == tool })
	if i < 0 {
		return nil
	}
	var s struct {
		Properties map[string]struct {
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(req.Tools[i].Schema, &s) // a schema without it offers none
	return s.Properties[argument].Enum
}

var writtenCondition = regexp.MustCompile(`(?:([\pL\pN_]+)\.)?([\pL\pN_]+)\s*(>=|<=|!=|<>|=|<|>)\s*('[^']*'|"[^"]*"|[^\s,;]+)`)

var conditionOps = map[string]string{">=": "gte", "<=": "lte", "!=": "neq", "<>": "neq", "=": "eq", "<": "lt", ">": "gt"}

// addWritten reads comparisons such as `invoices.issued >= 2025-10-01` out of a text:
// those of columns that the source has, unless they name another source.
func (s *scopedSide) addWritten(text string) {
	for _, m := range writtenCondition.FindAllStringSubmatch(text, -1) {
		for _, c := range s.columns {
			if strings.EqualFold(c.Name, m[2]) && (m[1] == "" || strings.EqualFold(m[1], s.alias)) {
				value := any(strings.Trim(m[4], `'"`))
				if number := json.Number(m[4]); json.Valid([]byte(m[4])) && m[4][0] != '"' {
					value = number
				}
				s.conditions = append(s.conditions, map[string]any{"column": c.Name, "op": conditionOps[m[3]], "value": value})
				s.words = append(s.words, fmt.Sprintf("%s %s %s", c.Name, m[3], m[4]))
			}
		}
	}
}
