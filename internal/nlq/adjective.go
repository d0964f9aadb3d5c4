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

func joinHints(a, b []hint) []hint { return append(append([]hint{}, a...), b...) }

var (
	oldHints   = joinHints(hints(true, "age"), hints(false, "birth", "birthday", "dob", "founded", "established", "built", "open", "opened", "year", "date"))
	lateHints  = hints(true, "date", "time", "year", "day", "month", "timestamp", "at")
	largeHints = hints(true, "area", "size", "population", "capacity", "surface")
	priceHints = hints(true, "price", "cost", "fee", "charge", "amount", "rate")
)

func oppositeHints(hs []hint) []hint {
	out := make([]hint, len(hs))
	for i, h := range hs {
		out[i] = hint{h.word, !h.more}
	}
	return out
}

// regularAdjective writes the phrases of an adjective that has forms of its own:
// older, oldest.
func regularAdjective(comparative, superlative string, hs []hint) adjective {
	return adjective{comparative: []string{comparative + " than"}, superlative: []string{superlative, "the " + superlative}, hints: hs}
}

// moreAdjective writes the phrases of an adjective with more and most.
func moreAdjective(word string, hs []hint, counts bool) adjective {
	return adjective{comparative: []string{"more " + word + " than"}, superlative: []string{"most " + word, "the most " + word}, hints: hs, counts: counts}
}

// lessAdjective writes the phrases of an adjective with less and least.
func lessAdjective(word string, hs []hint, counts bool) adjective {
	return adjective{comparative: []string{"less " + word + " than"}, superlative: []string{"least " + word, "the least " + word}, hints: oppositeHints(hs), counts: counts}
}

var adjectives = map[string]adjective{
	"old":           regularAdjective("older", "oldest", oldHints),
	"young":         regularAdjective("younger", "youngest", oppositeHints(oldHints)),
	"early":         {superlative: []string{"earliest", "the earliest"}, hints: oppositeHints(lateHints)},
	"late":          {superlative: []string{"latest", "the latest", "most recent", "the most recent", "newest", "the newest", "most recently", "the most recently"}, hints: lateHints},
	"tall":          regularAdjective("taller", "tallest", hints(true, "height", "elevation", "altitude")),
	"heavy":         regularAdjective("heavier", "heaviest", hints(true, "weight", "mass")),
	"light":         regularAdjective("lighter", "lightest", hints(false, "weight", "mass")),
	"long":          regularAdjective("longer", "longest", hints(true, "length", "duration", "runtime", "time", "distance", "day", "minute", "hour", "page")),
	"short":         regularAdjective("shorter", "shortest", hints(false, "length", "duration", "height", "runtime", "time", "distance", "day", "minute", "hour", "page")),
	"large":         {superlative: []string{"largest", "the largest", "biggest", "the biggest"}, hints: largeHints},
	"small":         {superlative: []string{"smallest", "the smallest"}, hints: oppositeHints(largeHints)},
	"expensive":     moreAdjective("expensive", priceHints, false),
	"costly":        moreAdjective("costly", priceHints, false),
	"inexpensive":   lessAdjective("expensive", priceHints, false),
	"cheap":         regularAdjective("cheaper", "cheapest", oppositeHints(priceHints)),
	"rich":          regularAdjective("richer", "richest", hints(true, "worth", "income", "wealth", "salary", "balance")),
	"poor":          regularAdjective("poorer", "poorest", hints(false, "worth", "income", "wealth", "salary", "balance")),
	"fast":          regularAdjective("faster", "fastest", joinHints(hints(true, "speed", "velocity"), hints(false, "time", "duration"))),
	"slow":          regularAdjective("slower", "slowest", joinHints(hints(false, "speed", "velocity"), hints(true, "time", "duration"))),
	"good":          {superlative: []string{"best", "the best", "top rated", "best rated"}, hints: joinHints(hints(true, "rating", "score", "point", "star"), hints(false, "rank", "ranking", "position"))},
	"bad":           {superlative: []string{"worst", "the worst"}, hints: joinHints(hints(false, "rating", "score", "point", "star"), hints(true, "rank", "ranking", "position"))},
	"powerful":      moreAdjective("powerful", hints(true, "power", "horsepower"), false),
	"valuable":      moreAdjective("valuable", hints(true, "value", "worth", "price"), false),
	"populous":      moreAdjective("populous", hints(true, "population"), false),
	"populated":     moreAdjective("populated", hints(true, "population"), false),
	"unpopulated":   lessAdjective("populated", hints(true, "population"), false),
	"profitable":    moreAdjective("profitable", hints(true, "profit", "margin"), false),
	"common":        moreAdjective("common", nil, true),
	"commonly":      moreAdjective("commonly used", nil, true),
	"frequent":      moreAdjective("frequent", nil, true),
	"frequently":    moreAdjective("frequently", nil, true),
	"often":         moreAdjective("often", nil, true),
	"popular":       moreAdjective("popular", hints(true, "popularity", "follower", "view", "like"), true),
	"prevalent":     moreAdjective("prevalent", nil, true),
	"uncommon":      {superlative: []string{"least common", "the least common", "rarest", "the rarest", "least frequent", "the least frequent", "least popular", "the least popular", "least frequently used"}, counts: true},
	"numerous":      moreAdjective("numerous", nil, true),
	"highly paid":   {superlative: []string{"highest paid", "the highest paid", "best paid", "the best paid"}, hints: hints(true, "salary", "wage", "pay", "income")},
	"spacious":      moreAdjective("spacious", hints(true, "area", "size", "capacity"), false),
	"distant":       {superlative: []string{"farthest", "the farthest", "furthest"}, hints: hints(true, "distance")},
	"near":          {superlative: []string{"nearest", "the nearest", "closest", "the closest"}, hints: hints(false, "distance")},
	"long standing": {superlative: []string{"longest serving", "longest standing"}, hints: hints(false, "hired", "start", "joined", "date")},
}
