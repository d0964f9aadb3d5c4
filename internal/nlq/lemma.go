package nlq

import "strings"

// irregular are plurals and forms that no rule gives.
var irregular = map[string]string{
	"people": "person", "ids": "id", "nos": "no", "children": "child", "men": "man", "women": "woman", "mice": "mouse", "feet": "foot", "teeth": "tooth",
	"geese": "goose", "indices": "index", "matrices": "matrix", "criteria": "criterion", "analyses": "analysis", "data": "data",
	"media": "media", "series": "series", "species": "species", "has": "have", "had": "have", "is": "be", "are": "be", "was": "be",
	"were": "be", "been": "be", "did": "do", "does": "do", "done": "do", "bought": "buy", "sold": "sell", "spent": "spend", "spoken": "speak",
	"spoke": "speak", "made": "make", "held": "hold", "won": "win", "lost": "lose", "left": "leave", "went": "go", "gone": "go",
	"wrote": "write", "written": "write", "taught": "teach", "built": "build", "paid": "pay", "born": "birth", "flew": "fly", "ran": "run",
	"took": "take", "taken": "take", "given": "give", "gave": "give", "grew": "grow", "began": "begin", "begun": "begin", "sang": "sing",
	"sung": "sing", "driven": "drive", "drove": "drive", "lives": "live", "wives": "wife", "shelves": "shelf", "leaves": "leave",
	"movies": "movie", "cookies": "cookie", "ties": "tie", "status": "status", "gas": "gas", "bus": "bus", "business": "business",
	"address": "address", "class": "class", "process": "process", "access": "access", "progress": "progress", "canvas": "canvas",
	"this": "this", "its": "its", "as": "as", "us": "us", "yes": "yes", "news": "news", "always": "always", "perhaps": "perhaps",
}

// lemma is the base form of a noun, or the word itself.
func lemma(w string) string {
	if base, ok := irregular[w]; ok {
		return base
	}
	n := len(w)
	switch {
	case n > 4 && strings.HasSuffix(w, "ies"):
		return w[:n-3] + "y"
	case n > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes") || strings.HasSuffix(w, "zes")):
		return w[:n-2]
	case n > 6 && strings.HasSuffix(w, "oes"): // potatoes
		return w[:n-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	case n > 3 && strings.HasSuffix(w, "s"):
		return w[:n-1]
	}
	return w
}

// stem is what forms of a word have in common: arrive, arrives, arriving, arrived,
// arrival. It is only ever compared with other stems.
func stem(w string) string {
	w = lemma(w)
	for _, suffix := range []string{"ization", "isation", "ation", "ment", "ness", "ings", "ing", "ance", "ence", "ent", "ant", "ion", "ure", "al", "ed", "ly"} {
		if base, ok := strings.CutSuffix(w, suffix); ok && len(base) >= 4 {
			w = base
			break
		}
	}
	if n := len(w); n > 4 && w[n-1] == w[n-2] && w[n-1] != 's' && w[n-1] != 'l' && w[n-1] != 'e' {
		w = w[:n-1]
	}
	if n := len(w); n > 3 && (w[n-1] == 'e' || w[n-1] == 'y') {
		w = w[:n-1]
	}
	if n := len(w); n > 4 && strings.HasSuffix(w, "ll") {
		w = w[:n-1]
	}
	return w
}

// differByTypo reports whether two words differ by a slip of the finger: one letter left out,
// added, changed, or two turned round. Short words have no slips.
func differByTypo(a, b string) bool {
	if len(a) < 5 || len(b) < 5 || a[0] != b[0] {
		return false
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a)-len(b) > 1 {
		return false
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		if i == len(a) {
			return true
		}
		return a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	}
	return a[i+1:] == b[i:]
}
