package figure

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The words around numbers, English and German.

// scales multiply the number before them.
var scales = map[string]float64{
	"thousand": 1e3, "k": 1e3, "tausend": 1e3, "tsd": 1e3, "t€": 1e3, "k€": 1e3, "teur": 1e3, "hundred": 100, "hundert": 100,
	"million": 1e6, "millions": 1e6, "mn": 1e6, "mln": 1e6, "mm": 1e6, "m": 1e6, "mio": 1e6, "millionen": 1e6, "dozen": 12, "dutzend": 12,
	"billion": 1e9, "billions": 1e9, "bn": 1e9, "b": 1e9, "mrd": 1e9, "milliarde": 1e9, "milliarden": 1e9,
	"trillion": 1e12, "billionen": 1e12,
}

// numberWords are numbers in words. "One" and "ein" are articles as often, so they are not here.
var numberWords = map[string]float64{
	"zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
	"thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30,
	"forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
	"null": 0, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12,
	"dreizehn": 13, "vierzehn": 14, "fünfzehn": 15, "sechzehn": 16, "siebzehn": 17, "achtzehn": 18, "neunzehn": 19, "zwanzig": 20, "dreißig": 30,
	"dreissig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60, "siebzig": 70, "achtzig": 80, "neunzig": 90,
}

// fractions are shares in words.
var fractions = map[string]float64{
	"sixth": 1.0 / 6, "seventh": 1.0 / 7, "eighth": 0.125, "eighths": 0.125, "ninth": 1.0 / 9, "twentieth": 0.05, "hundredth": 0.01, "tenths": 0.1,
	"sechstel": 1.0 / 6, "siebtel": 1.0 / 7, "achtel": 0.125, "neuntel": 1.0 / 9, "hundertstel": 0.01,
	"half": 0.5, "third": 1.0 / 3, "thirds": 1.0 / 3, "quarter": 0.25, "quarters": 0.25, "fifth": 0.2, "fifths": 0.2, "tenth": 0.1,
	"hälfte": 0.5, "halb": 0.5, "halbe": 0.5, "halben": 0.5, "drittel": 1.0 / 3, "viertel": 0.25, "fünftel": 0.2, "zehntel": 0.1,
}

// ordinalShares are shares only behind an article: the third quarter is none.
var ordinalShares = wordSet("third quarter fifth sixth seventh eighth ninth tenth twentieth hundredth")

// multiples are ratios in words.
var multiples = map[string]float64{
	"twice": 2, "double": 2, "doubled": 2, "doubling": 2, "triple": 3, "tripled": 3, "quadruple": 4, "quadrupled": 4, "halved": 0.5, "halving": 0.5,
	"doppelt": 2, "doppelte": 2, "doppelten": 2, "verdoppelt": 2, "verdoppelte": 2, "verdoppelten": 2, "halbiert": 0.5, "halbierte": 0.5, "halbierten": 0.5,
}

// unitsOf gives what a word measures: the kind of measure, and how many of its base unit.
var unitsOf = map[string]struct {
	kind string
	base float64
}{
	"ms": {"time", 0.001}, "millisecond": {"time", 0.001}, "milliseconds": {"time", 0.001}, "millisekunden": {"time", 0.001},
	"s": {"time", 1}, "sec": {"time", 1}, "secs": {"time", 1}, "second": {"time", 1}, "seconds": {"time", 1}, "sekunden": {"time", 1}, "sekunde": {"time", 1},
	"min": {"time", 60}, "mins": {"time", 60}, "minute": {"time", 60}, "minutes": {"time", 60}, "minuten": {"time", 60},
	"h": {"time", 3600}, "hr": {"time", 3600}, "hrs": {"time", 3600}, "hour": {"time", 3600}, "hours": {"time", 3600}, "stunde": {"time", 3600}, "stunden": {"time", 3600},
	"day": {"time", 86400}, "days": {"time", 86400}, "tag": {"time", 86400}, "tage": {"time", 86400}, "tagen": {"time", 86400}, "weeks": {"time", 604800}, "wochen": {"time", 604800},
	"mg": {"mass", 0.001}, "g": {"mass", 1}, "gram": {"mass", 1}, "grams": {"mass", 1}, "gramm": {"mass", 1}, "kg": {"mass", 1000}, "kilogram": {"mass", 1000}, "kilograms": {"mass", 1000}, "kilogramm": {"mass", 1000},
	"t": {"mass", 1e6}, "tonne": {"mass", 1e6}, "tonnes": {"mass", 1e6}, "tons": {"mass", 1e6}, "tonnen": {"mass", 1e6},
	"mm": {"length", 0.001}, "cm": {"length", 0.01}, "m": {"length", 1}, "meter": {"length", 1}, "meters": {"length", 1}, "metre": {"length", 1}, "metres": {"length", 1},
	"km": {"length", 1000}, "kilometer": {"length", 1000}, "kilometers": {"length", 1000}, "kilometres": {"length", 1000},
	"ml": {"volume", 0.001}, "l": {"volume", 1}, "liter": {"volume", 1}, "liters": {"volume", 1}, "litres": {"volume", 1}, "litre": {"volume", 1}, "hl": {"volume", 100}, "hectolitre": {"volume", 100}, "hectolitres": {"volume", 100}, "hektoliter": {"volume", 100},
	"cent": {"money", 0.01}, "cents": {"money", 0.01}, "ct": {"money", 0.01}, "pence": {"money", 0.01}, "euro": {"money", 1}, "euros": {"money", 1}, "eur": {"money", 1}, "€": {"money", 1},
	"dollar": {"money", 1}, "dollars": {"money", 1}, "usd": {"money", 1}, "$": {"money", 1}, "chf": {"money", 1}, "gbp": {"money", 1}, "£": {"money", 1},
	"wh": {"energy", 1}, "kwh": {"energy", 1e3}, "mwh": {"energy", 1e6}, "gwh": {"energy", 1e9}, "kw": {"power", 1}, "mw": {"power", 1e3}, "gw": {"power", 1e6},
	"byte": {"bytes", 1}, "bytes": {"bytes", 1}, "kb": {"bytes", 1e3}, "mb": {"bytes", 1e6}, "gb": {"bytes", 1e9}, "tb": {"bytes", 1e12},
	"kib": {"bytes", 1 << 10}, "mib": {"bytes", 1 << 20}, "gib": {"bytes", 1 << 30},
}

// currencyOf tells the units of money apart.
var currencyOf = map[string]string{
	"euro": "eur", "euros": "eur", "eur": "eur", "€": "eur", "dollar": "usd", "dollars": "usd", "usd": "usd", "$": "usd", "chf": "chf", "gbp": "gbp", "£": "gbp",
}

// ambiguousUnits mean something else at the beginning of a column's name: min_price.
var ambiguousUnits = wordSet("min mins sec secs second seconds minute hour day days tag tage weeks hr hrs ms")

// columnScales are words of a column's name that say in what its numbers count.
var columnScales = map[string]float64{"thousand": 1e3, "thousands": 1e3, "teur": 1e3, "tsd": 1e3, "keur": 1e3, "kusd": 1e3, "million": 1e6, "millions": 1e6, "mio": 1e6, "meur": 1e6, "musd": 1e6, "mn": 1e6, "mrd": 1e9, "bn": 1e9}

// determiners stand before the number of all things that are spoken of: the six months.
var determiners = map[string]bool{
	"the": true, "our": true, "all": true, "these": true, "those": true, "its": true, "their": true, "your": true, "both": true,
	"die": true, "der": true, "den": true, "alle": true, "allen": true, "aller": true, "unsere": true, "unserer": true, "diese": true, "dieser": true, "ihre": true, "ihrer": true,
}

// currencies may be glued to a number: EUR48.
var currencies = map[string]bool{"eur": true, "usd": true, "gbp": true, "chf": true, "jpy": true, "cad": true, "aud": true, "sek": true, "nok": true, "dkk": true, "pln": true, "czk": true}

// articles stand between a share in words and what says how near it is.
var articles = wordSet("a an one the ein eine einem einer eines das die der")

// single are words before a scale that make it one: a million.
var single = map[string]bool{"a": true, "one": true, "eine": true, "einer": true, "ein": true, "einem": true}

// closenessWords stand before a figure that is not exact.
var closenessWords = map[string]closeness{
	"about": about, "around": about, "roughly": about, "approximately": about, "approx": about, "circa": about, "ca": about, "some": about, "~": about, "≈": about,
	"etwa": about, "quite": below, "rund": about, "ungefähr": about, "zirka": about, "gut": above,
	"over": above, "above": above, "exceeding": above, "than": above, "über": above, "als": above,
	"nearly": below, "almost": below, "under": below, "below": below, "fast": below, "knapp": below, "beinahe": below, "unter": below,
}

// abbreviations are words whose point ends no sentence.
var abbreviations = wordSet("co st nr dr mr mrs ms inc ltd corp ca approx bzw inkl exkl zzgl vs str mio mrd tsd evtl ggf usw sog max min avg vol fig abb art jan feb mar apr jun jul aug sep sept oct okt nov dec dez")

// limitWords stand before a number of things that the person asked for.
var limitWords = map[string]bool{"top": true, "first": true, "last": true, "ersten": true, "letzten": true, "obersten": true, "größten": true, "besten": true}

// Words of a sentence that say that something fell, is negative, or rose.
var (
	fallWords = []string{
		"fell", "fall", "drop", "decreas", "declin", "loss", "lost", "lose", "down", "lower", "less", "fewer", "minus", "negative", "deficit", "shrank", "shrink", "below", "behind", "under ", "short of", "shortfall",
		"refund", "credit note", "discount", "expense", "cost", "outflow", "withdraw", "overdrawn", "debit", "reduc", "worse", "slump", "cut ", "miss", "back by", "lag", "trail",
		"sank", "gesunken", "fiel", "gefallen", "verlust", "verlor", "rückgang", "zurück", "weniger", "niedriger", "negativ", "fehlbetrag", "defizit", "minder", "gutschrift", "erstattung", "rabatt", "ausgabe", "kosten", "abfluss", "unter ", "verringert", "reduz", "schrumpf", "hinter", "einbu", "abnahme", "nachlass", "überzogen", "soll ",
	}
	riseWords = []string{"rose", "rise", "increas", "grew", "gain", "up by", "higher", "more than", "stieg", "gestiegen", "zuwachs", "gewachsen", "wuchs", "plus", "höher", "mehr als", "zunahme", "erhöh"}
)

func containsOneOf(sentence string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(sentence, w) })
}

// A cue is a kind of formula that words ask for.
type cue int

const (
	sumCue cue = 1 << iota
	meanCue
	differenceCue
	shareCue
	ratioCue
	countCue
)

var cueWords = map[cue][]string{
	sumCue:        {"total", " all ", "alle ", "aller ", "across", "sum", "together", "combined", "overall", "altogether", "in all", "insgesamt", "zusammen", "gesamt", "summe", "addier"},
	meanCue:       {"average", "mean", " avg", "on average", "per ", "each ", "every ", " jede", " a day", " a week", " a month", " a head", " am tag", " im monat", "durchschnitt", "im schnitt", "mittel", " pro ", " je "},
	differenceCue: {"difference", "more than", "less than", "fewer", "higher", "lower", "increase", "decrease", "rose", "fell", "grew", "growth", "drop", "gap", "gain", "change", "up by", "down by", "ahead", "behind", "spread", "span", "range", "improved", "remain", "left over", "above the", "below the", "open", "outstanding", "unresolved", "lost", "points", "more ", "unterschied", "mehr", "weniger", "höher", "niedriger", "gestiegen", "gesunken", "gewachsen", "zuwachs", "rückgang", "differenz", "abstand", "spannweite", "zu viel", "zu wenig", " vor ", "erholt", "änderung", "verbleib", "stieg", "sank", "fiel", "plus", "minus", "wuchs", "verlor", "offen", "ausstehend", "übrig", "punkte", "über der", "unter der"},
	shareCue:      {"%", "percent", "prozent", "share", "fraction", "proportion", "portion", "anteil", "quote", "rate", " of all", " of the", "fifth", "fünftel", "drittel", "viertel", "hälfte", "half", "third", "quarter"},
	ratioCue:      {"times", "ratio", "twice", "double", "triple", "fold", "factor", "mal so", "-fache", "fache", "verhältnis", "doppelt", "faktor", "verdoppelt", " per ", " pro "},
	countCue:      {"there are", "there is", "there were", "count", "number of", "rows", "results", "found", "entries", "records", "list", "in total", "es gibt", "anzahl", "zeilen", "treffer", "einträge", "gefunden", "insgesamt", "different", "distinct", "verschiedene", "have", "are ", "haben", "sind "},
}

// cuesIn finds which formulas a sentence speaks of.
func cuesIn(sentence string) cue {
	var found cue
	sentence = " " + sentence
	for c, words := range cueWords {
		for _, w := range words {
			if strings.Contains(sentence, w) {
				found |= c
				break
			}
		}
	}
	return found
}

// months by name, English and German.
var months = map[string]int{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9, "october": 10, "november": 11, "december": 12,
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
	"januar": 1, "februar": 2, "märz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12, "okt": 10, "dez": 12,
}

// capitalMonths is a pattern of them with a capital: may is a verb.
func capitalMonths() string {
	var names []string
	for name := range months {
		first, size := utf8.DecodeRuneInString(name)
		names = append(names, string(unicode.ToUpper(first))+name[size:])
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return strings.Join(names, "|")
}

// monthNames is a pattern of them, the longest first.
func monthNames() string {
	names := slices.SortedFunc(maps.Keys(months), func(a, b string) int { return len(b) - len(a) })
	return strings.Join(names, "|")
}
