package nlq

// An adjective hints at columns: `oldest` at the largest age or the earliest birth.
type adjective struct {
	comparative, superlative []string
	hints                    []hint
	counts                   bool // by itself it may mean how often something occurs
}

// A hint is a word of a column's name; more says whether a larger value there is
// more of the adjective.
type hint struct {
	word string
	more bool
}

func hints(more bool, words ...string) []hint {
	var hs []hint
	for _, w := range words {
		hs = append(hs, hint{w, more})
	}
	return hs
}

func both(a, b []hint) []hint { return append(append([]hint{}, a...), b...) }

var (
	oldHints   = both(hints(true, "age"), hints(false, "birth", "birthday", "dob", "founded", "established", "built", "open", "opened", "year", "date"))
	lateHints  = hints(true, "date", "time", "year", "day", "month", "timestamp", "at")
	largeHints = hints(true, "area", "size", "population", "capacity", "surface")
	priceHints = hints(true, "price", "cost", "fee", "charge", "amount", "rate")
)

func turned(hs []hint) []hint {
	out := make([]hint, len(hs))
	for i, h := range hs {
		out[i] = hint{h.word, !h.more}
	}
	return out
}

// forms writes the phrases of an adjective.
func forms(comparative, superlative string, hs []hint) adjective {
	return adjective{comparative: []string{comparative + " than"}, superlative: []string{superlative, "the " + superlative}, hints: hs}
}

func long(word string, hs []hint, counts bool) adjective {
	return adjective{comparative: []string{"more " + word + " than"}, superlative: []string{"most " + word, "the most " + word}, hints: hs, counts: counts}
}

func little(word string, hs []hint, counts bool) adjective {
	return adjective{comparative: []string{"less " + word + " than"}, superlative: []string{"least " + word, "the least " + word}, hints: turned(hs), counts: counts}
}

var adjectives = map[string]adjective{
	"old":           forms("older", "oldest", oldHints),
	"young":         forms("younger", "youngest", turned(oldHints)),
	"early":         {superlative: []string{"earliest", "the earliest"}, hints: turned(lateHints)},
	"late":          {superlative: []string{"latest", "the latest", "most recent", "the most recent", "newest", "the newest", "most recently", "the most recently"}, hints: lateHints},
	"tall":          forms("taller", "tallest", hints(true, "height", "elevation", "altitude")),
	"heavy":         forms("heavier", "heaviest", hints(true, "weight", "mass")),
	"light":         forms("lighter", "lightest", hints(false, "weight", "mass")),
	"long":          forms("longer", "longest", hints(true, "length", "duration", "runtime", "time", "distance", "day", "minute", "hour", "page")),
	"short":         forms("shorter", "shortest", hints(false, "length", "duration", "height", "runtime", "time", "distance", "day", "minute", "hour", "page")),
	"large":         {superlative: []string{"largest", "the largest", "biggest", "the biggest"}, hints: largeHints},
	"small":         {superlative: []string{"smallest", "the smallest"}, hints: turned(largeHints)},
	"expensive":     long("expensive", priceHints, false),
	"costly":        long("costly", priceHints, false),
	"inexpensive":   little("expensive", priceHints, false),
	"cheap":         forms("cheaper", "cheapest", turned(priceHints)),
	"rich":          forms("richer", "richest", hints(true, "worth", "income", "wealth", "salary", "balance")),
	"poor":          forms("poorer", "poorest", hints(false, "worth", "income", "wealth", "salary", "balance")),
	"fast":          forms("faster", "fastest", both(hints(true, "speed", "velocity"), hints(false, "time", "duration"))),
	"slow":          forms("slower", "slowest", both(hints(false, "speed", "velocity"), hints(true, "time", "duration"))),
	"good":          {superlative: []string{"best", "the best", "top rated", "best rated"}, hints: both(hints(true, "rating", "score", "point", "star"), hints(false, "rank", "ranking", "position"))},
	"bad":           {superlative: []string{"worst", "the worst"}, hints: both(hints(false, "rating", "score", "point", "star"), hints(true, "rank", "ranking", "position"))},
	"powerful":      long("powerful", hints(true, "power", "horsepower"), false),
	"valuable":      long("valuable", hints(true, "value", "worth", "price"), false),
	"populous":      long("populous", hints(true, "population"), false),
	"populated":     long("populated", hints(true, "population"), false),
	"unpopulated":   little("populated", hints(true, "population"), false),
	"profitable":    long("profitable", hints(true, "profit", "margin"), false),
	"common":        long("common", nil, true),
	"commonly":      long("commonly used", nil, true),
	"frequent":      long("frequent", nil, true),
	"frequently":    long("frequently", nil, true),
	"often":         long("often", nil, true),
	"popular":       long("popular", hints(true, "popularity", "follower", "view", "like"), true),
	"prevalent":     long("prevalent", nil, true),
	"uncommon":      {superlative: []string{"least common", "the least common", "rarest", "the rarest", "least frequent", "the least frequent", "least popular", "the least popular", "least frequently used"}, counts: true},
	"numerous":      long("numerous", nil, true),
	"highly paid":   {superlative: []string{"highest paid", "the highest paid", "best paid", "the best paid"}, hints: hints(true, "salary", "wage", "pay", "income")},
	"spacious":      long("spacious", hints(true, "area", "size", "capacity"), false),
	"distant":       {superlative: []string{"farthest", "the farthest", "furthest"}, hints: hints(true, "distance")},
	"near":          {superlative: []string{"nearest", "the nearest", "closest", "the closest"}, hints: hints(false, "distance")},
	"long standing": {superlative: []string{"longest serving", "longest standing"}, hints: hints(false, "hired", "start", "joined", "date")},
}
