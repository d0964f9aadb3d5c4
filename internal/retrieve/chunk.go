package retrieve

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"interlock/internal/document"
)

// A passage should be short enough to mean one thing and to fit the encoder (256 tokens, about 1,000
// characters), and long enough to be understood alone.
const (
	wantedChunk = 700  // characters; a paragraph that would make a passage longer begins a new one
	maxChunk    = 1000 // characters; longer paragraphs are divided between sentences
)

// A chunk is a passage before it is stored.
type chunk struct {
	place   string
	heading string // that the passage stands under, where its place does not say so
	content string
}

// makeChunks divides the parts of a document into passages. A passage holds text of one part, or of
// parts that continue each other.
func makeChunks(parts []document.Part) []chunk {
	var out []chunk
	var open chunk
	flush := func() {
		if open.content != "" {
			out = append(out, open)
		}
		open = chunk{}
	}
	for _, part := range parts {
		if !part.Continues {
			flush()
		}
		for _, piece := range splitPart(part.Text) {
			size := utf8.RuneCountInString(open.content)
			if size > 0 && size+utf8.RuneCountInString(piece) > wantedChunk {
				flush()
			}
			if open.content == "" {
				open = chunk{part.Place, part.Heading, piece}
				continue
			}
			open.content += "\n\n" + piece
		}
	}
	flush()
	return out
}

// splitPart gives the paragraphs of a text, and the sentences of long ones in groups.
func splitPart(text string) []string {
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		for utf8.RuneCountInString(paragraph) > maxChunk {
			cut := cutPoint(paragraph)
			out = append(out, strings.TrimSpace(paragraph[:cut]))
			paragraph = strings.TrimSpace(paragraph[cut:])
		}
		if paragraph != "" {
			out = append(out, paragraph)
		}
	}
	return out
}

// cutPoint is where a long paragraph is divided: after the last sentence, line or word that ends
// within the wanted length.
func cutPoint(text string) int {
	var sentence, line, word, runes int
	var before rune
	for i, r := range text {
		if runes++; runes > wantedChunk {
			switch {
			case sentence > 0:
				return sentence
			case line > 0:
				return line
			case word > 0:
				return word
			}
			return i
		}
		if unicode.IsSpace(r) {
			word = i
			if strings.ContainsRune(".!?。:", before) {
				sentence = i
			}
			if r == '\n' {
				line = i
			}
		}
		before = r
	}
	return len(text)
}

// A labelledText is a passage with what names its subject.
type labelledText struct {
	title, file, place, heading, content string
}

// label is what the encoder and the full-text index learn of a passage beside its text: the document's title
// and the heading that it stands under.
func (t labelledText) label() string {
	title := t.title
	if title == "" {
		title = strings.Join(splitName(strings.TrimSuffix(t.file, extension(t.file))), " ")
	}
	under := t.place
	if isNumbered(t.place) {
		under = t.heading
	}
	if under == "" || under == title {
		return title
	}
	return title + ": " + under
}

// embedded is what the encoder reads of a passage.
func (t labelledText) embedded() string { return t.label() + "\n" + t.content }

// gloss is the passage in English, as the full-text index keeps it beside a German one; "" of others.
func (t labelledText) gloss() string {
	if text := t.embedded(); isGerman(questionWords(text)) {
		return loadGlossary().translate(text)
	}
	return ""
}

// isNumbered reports whether a place counts pages, lines or rows and so means nothing by itself.
func isNumbered(place string) bool {
	for _, prefix := range []string{"page ", "line ", "rows ", "row "} {
		if rest, ok := strings.CutPrefix(place, prefix); ok && strings.Trim(rest, "0123456789-") == "" {
			return true
		}
	}
	return place == ""
}
