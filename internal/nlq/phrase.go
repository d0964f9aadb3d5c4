package nlq

import (
	"strings"

	"interlock/internal/queryplan"
)

// A role is what a chunk does in a question.
type role int

const (
	rWord     role = iota // nothing known
	rMention              // a table, a column or a value
	rNumber               // a number
	rPeriod               // a date or a period
	rCount                // how many
	rAgg                  // average, total
	rCompare              // more than
	rSup                  // the most, the oldest
	rOrder                // sorted by
	rDir                  // ascending
	rEach                 // for each
	rNot                  // not, without
	rDistinct             // different
	rAnd                  // and
	rOr                   // or
	rBoth                 // both
	rRel                  // that, who, with
	rBe                   // is, are
	rTop                  // top
	rShare                // percentage of
	rLike                 // containing
	rEmpty                // is missing
	rOrMore               // or more
	rTrend                // over time
)

// A phrase is words of the grammar with their role.
type phrase struct {
	words []string
	role  role
	op    queryplan.Operator
	agg   queryplan.Function
	adj   string // an adjective that hints at a column
	desc  bool   // of a superlative or order: the largest first
}

var phrases = buildPhrases()

func buildPhrases() map[string][]phrase {
	m := map[string][]phrase{}
	add := func(p phrase, texts ...string) {
		for _, t := range texts {
			q := p
			q.words = strings.Fields(t)
			m[q.words[0]] = append(m[q.words[0]], q)
		}
	}
	add(phrase{role: rCount}, "how many", "number of", "the number of", "total number of", "the total number of", "count of", "the count of", "count the number of",
		"numbers of", "how many times", "how often", "the total count of", "total count of", "number of times", "counts of", "quantity of", "count", "the count", "the number", "total number", "how many different times", "frequency", "frequency of")
	add(phrase{role: rAgg, agg: queryplan.Avg}, "average", "mean", "the average", "on average", "averages", "avg", "the mean", "average value of", "average number of", "the average number of", "mean value of")
	add(phrase{role: rAgg, agg: queryplan.Sum}, "total", "sum of", "the sum of", "the total", "total amount of", "the total amount of", "combined", "overall", "in total", "sum", "together", "altogether")
	add(phrase{role: rAgg, agg: queryplan.Median}, "median", "the median")
	add(phrase{role: rAgg, agg: queryplan.StdDev}, "standard deviation", "standard deviation of")
	add(phrase{role: rAgg, agg: queryplan.Min}, "minimum", "min", "minimal", "the minimum", "minimum number of")
	add(phrase{role: rAgg, agg: queryplan.Max}, "maximum", "max", "maximal", "the maximum", "maximum number of")
	cmp := func(op queryplan.Operator, adj string, texts ...string) {
		add(phrase{role: rCompare, op: op, adj: adj}, texts...)
	}
	cmp(queryplan.Gt, "", "more than", "greater than", "larger than", "higher than", "bigger than", "over", "above", "exceeding", "exceeds", "exceed", "in excess of", "upwards of", ">", "beyond", "better than")
	cmp(queryplan.Ge, "", "at least", "no less than", "not less than", "no fewer than", "not fewer than", ">=", "minimum of", "a minimum of", "not lower than", "not smaller than", "not below", "not under", "greater than or equal to", "more than or equal to")
	cmp(queryplan.Lt, "", "less than", "fewer than", "smaller than", "lower than", "below", "under", "<", "worse than")
	cmp(queryplan.Le, "", "at most", "no more than", "not more than", "up to", "<=", "maximum of", "a maximum of", "not higher than", "not greater than", "not larger than", "not above", "not over", "not exceeding", "less than or equal to", "no greater than", "no higher than")
	cmp(queryplan.Gt, "date", "after", "later than", "following", "newer than", "since after")
	cmp(queryplan.Ge, "date", "since", "starting from", "starting in", "as of", "not before", "from")
	cmp(queryplan.Lt, "date", "before", "prior to", "earlier than", "preceding")
	cmp(queryplan.Le, "date", "until", "till", "by the end of", "not after", "no later than")
	cmp(queryplan.Between, "", "between", "ranging from", "in the range of", "in the range", "in between")
	cmp(queryplan.Eq, "", "equal to", "equals", "exactly", "=", "equal", "precisely", "only", "just", "is exactly")
	for adj, forms := range adjectives {
		cmp(queryplan.Gt, adj, forms.comparative...)
		for _, f := range forms.superlative {
			add(phrase{role: rSup, adj: adj, desc: true}, f)
		}
	}
	add(phrase{role: rSup, desc: true}, "most", "the most", "greatest", "the greatest", "highest", "the highest", "the largest", "largest number of", "the largest number of", "the greatest number of",
		"greatest number of", "the highest number of", "highest number of", "most number of", "the most number of", "the maximum number of", "the largest amount of", "the greatest amount of", "largest amount of", "highest amount of", "maximal number of", "the biggest number of", "the majority of")
	add(phrase{role: rSup, desc: true}, "predominantly", "mainly", "mostly", "primarily", "chiefly")
	add(phrase{role: rSup}, "least", "the least", "fewest", "the fewest", "lowest", "the lowest", "smallest number of", "the smallest number of", "lowest number of", "the lowest number of",
		"fewest number of", "the fewest number of", "least number of", "the least number of", "the minimum number of", "the smallest amount of", "smallest amount of", "least amount of", "the least amount of", "the least amount of")
	add(phrase{role: rTop, desc: true}, "top", "the top", "first", "the first")
	add(phrase{role: rTop}, "bottom", "the bottom", "last", "the last")
	add(phrase{role: rOrder}, "order by", "ordered by", "sorted by", "sort by", "in order of", "ranked by", "rank by", "order the results by", "order the result by", "order results by", "sort the results by", "sort the result by",
		"in the order of", "arranged by", "ordering by", "sort them by", "order them by", "listed by", "list them by", "sorted in", "ordered in", "sorted", "ordered", "order", "sort", "according to", "in order by", "rank them by", "and order by", "sorted according to", "sort the list by", "order the list by", "listed in", "listed")
	add(phrase{role: rDir}, "ascending", "asc", "ascendingly", "increasing", "in ascending order", "in ascending order of", "ascending order", "ascending order of", "in increasing order of", "in increasing order", "from low to high", "from lowest to highest", "from smallest to largest",
		"in alphabetical order", "alphabetical order", "alphabetically", "in alphabetical order of", "alphabetical order of", "in lexicographical order", "lexicographical order", "in lexicographic order", "lexicographic order", "from least to most", "from young to old", "from youngest to oldest", "from earliest to latest", "from oldest to newest", "chronologically", "in chronological order", "in ascending alphabetical order", "ascending alphabetical order", "by ascending", "in an ascending order", "from short to long", "from the smallest to the largest", "from the lowest to the highest", "lowest first", "oldest first", "the lowest first", "the oldest first", "the smallest first", "smallest first", "the earliest first", "earliest first", "from a to z", "in ascending lexicographical order", "ascending lexicographical order", "in alphabetic order", "alphabetic order")
	add(phrase{role: rDir, desc: true}, "descending", "desc", "decreasing", "in descending order", "in descending order of", "descending order", "descending order of", "in decreasing order of", "in decreasing order", "from high to low", "from highest to lowest", "from largest to smallest", "in a descending order",
		"in reverse alphabetical order", "reverse alphabetical order", "in reversed lexicographical order", "in reverse lexicographical order", "reversed lexicographical order", "from most to least", "from old to young", "from oldest to youngest", "from latest to earliest", "from newest to oldest", "from most recent to oldest", "in descending alphabetical order", "from long to short", "from the largest to the smallest", "from the highest to the lowest", "highest first", "largest first", "newest first", "the highest first", "the largest first", "the newest first", "latest first", "the latest first", "the biggest first", "from z to a", "reverse order", "by descending", "in reverse order of", "in reverse order", "descendingly", "in reverse alphabetic order")
	add(phrase{role: rEach}, "for each", "each", "per", "for every", "every", "by each", "of each", "in each", "grouped by", "group by", "broken down by", "split by", "of every", "in every", "for all the different", "for the different", "for different", "for each different", "for each of the", "each of the", "by", "across each", "from each", "at each", "on each", "with each", "to each", "among each", "for any")
	add(phrase{role: rNot}, "not", "no", "without", "never", "without any", "not any", "do not", "does not", "did not", "not have any", "do not have any", "does not have any", "have no", "has no", "had no", "have not", "has not", "had not", "never had", "is not", "are not", "was not", "were not",
		"other than", "except", "except for", "excluding", "not a single", "lack", "lacks", "lacking", "not yet", "none of", "neither", "but not", "but no", "besides", "apart from", "none", "not in", "outside of", "outside", "is no", "are no", "with no", "who have no", "no longer", "not been", "have not been", "has not been", "have never", "has never", "have never been", "has never been", "never been")
	add(phrase{role: rDistinct}, "different", "distinct", "unique", "all the different", "all distinct", "distinctive", "various", "the different", "the distinct", "all different", "all unique")
	add(phrase{role: rAnd}, "and", "as well as", "along with", "together with", "and also", "also", "but", "and what", "plus", "and how", "&", "with their", "and their", "and its")
	add(phrase{role: rOr}, "or", "or else")
	add(phrase{role: rBoth}, "both", "both of")
	add(phrase{role: rRel}, "that", "who", "whose", "which", "where", "with", "having", "whom", "when", "in which", "for which", "such that", "that have", "that has", "who have", "who has", "who had", "which have", "which has", "that had", "with a", "with an", "with the", "where the", "for whom", "at which", "to which", "from which", "on which", "among", "among the", "of which", "of all", "while")
	add(phrase{role: rTrend}, "over time", "trend of", "the trend of", "trend in", "the trend in", "trend", "the trend", "development of", "the development of")
	add(phrase{role: rBe}, "is", "are", "was", "were", "be", "been", "being")
	add(phrase{role: rShare, agg: queryplan.Percent}, "percentage of", "what percentage of", "the percentage of", "percent of", "what percent of", "share of", "the share of", "what share of", "proportion of", "the proportion of", "what proportion of", "what fraction of", "fraction of", "percentage of total", "share of total", "percentage of the total", "share of the total", "share", "percentage share")
	add(phrase{role: rLike, op: queryplan.Contains}, "containing", "contains", "contain", "containing the substring", "contains the substring", "containing the word", "contains the word", "contain the word", "contain the letter", "contains the letter", "containing the letter", "with the letter", "include the word", "includes the word", "including the word", "has the word", "has the substring", "have the substring", "have the word", "has the letter", "have the letter", "has the substring the", "with the substring", "with substring", "with the word", "that includes", "includes", "including", "contain the substring", "like", "matching")
	add(phrase{role: rLike, op: queryplan.StartsWith}, "start with", "starts with", "starting with", "begin with", "begins with", "beginning with", "starts with the letter", "start with the letter", "starting with the letter", "beginning with the letter", "begin with the letter", "begins with the letter", "starts with letter")
	add(phrase{role: rLike, op: queryplan.EndsWith}, "end with", "ends with", "ending with", "end in", "ends in", "ending in", "ends with the letter", "end with the letter", "ending with the letter")
	add(phrase{role: rEmpty, op: queryplan.IsNull}, "missing", "unknown", "is null", "are null", "null", "empty", "is empty", "not available", "is missing", "are missing", "unspecified", "not specified", "blank")
	add(phrase{role: rEmpty, op: queryplan.IsNotNull}, "is not null", "not null", "not empty", "not missing", "is known")
	add(phrase{role: rOrMore, op: queryplan.Ge}, "or more", "or above", "or over", "or higher", "or greater", "or older", "or later", "or larger", "and above", "and over", "and up", "or longer", "or after")
	add(phrase{role: rOrMore, op: queryplan.Le}, "or less", "or fewer", "or below", "or under", "or lower", "or younger", "or earlier", "or smaller", "and below", "and under", "or shorter", "or before")
	return m
}

// phraseAt finds the longest phrase at a token.
func phraseAt(toks []token, i int) (phrase, int) {
	var best phrase
	n := 0
	for _, p := range phrases[toks[i].lower] {
		if len(p.words) <= n || i+len(p.words) > len(toks) {
			continue
		}
		ok := true
		for k, w := range p.words {
			t := &toks[i+k]
			if t.lower != w || t.quoted || t.sentence != toks[i].sentence || k > 0 && t.comma {
				ok = false
				break
			}
		}
		if end := i + len(p.words); ok && p.role == rOrMore && end < len(toks) && toks[end].number {
			ok = false // or before 2008
		}
		if ok {
			best, n = p, len(p.words)
		}
	}
	return best, n
}
