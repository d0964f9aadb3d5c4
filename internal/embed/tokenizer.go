package embed

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Ids of the special tokens.
const (
	tokenUnknown = 100
	tokenStart   = 101
	tokenEnd     = 102
)

const (
	maxTokens     = 256 // of a text, with the two special ones; the rest is not read
	maxWordRunes  = 100 // a longer word is unknown
	maxTokenBytes = 128 // no token of the vocabulary is longer
	continuation  = "##"
)

// A tokenizer splits texts as BERT's uncased models expect: lower case, without accents, punctuation
// apart, and words in the longest pieces of the vocabulary (WordPiece).
type tokenizer struct{ vocabulary map[string]int32 }

func loadTokenizer(dir fs.FS) (*tokenizer, error) {
	text, err := fs.ReadFile(dir, tokenizerFile)
	if err != nil {
		return nil, fmt.Errorf("reading the vocabulary: %w", err)
	}
	var file struct {
		Model struct {
			Vocab map[string]int32 `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("reading the vocabulary: %w", err)
	}
	if len(file.Model.Vocab) != vocabularySize {
		return nil, fmt.Errorf("the vocabulary has %d tokens, want %d", len(file.Model.Vocab), vocabularySize)
	}
	for token, id := range file.Model.Vocab {
		if id < 0 || id >= vocabularySize {
			return nil, fmt.Errorf("the token %q has the number %d", token, id)
		}
	}
	return &tokenizer{file.Model.Vocab}, nil
}

// encode returns the ids of a text between the start and end tokens, at most maxTokens.
func (t *tokenizer) encode(text string) []int32 {
	ids := append(make([]int32, 0, 32), tokenStart)
	for word := range basicTokens(normalise(text)) {
		ids = t.appendPieces(ids, word)
		if len(ids) >= maxTokens {
			ids = ids[:maxTokens-1]
			break
		}
	}
	return append(ids, tokenEnd)
}

// normalise lowers the case and removes accents and control characters.
func normalise(text string) string {
	if isASCII(text) && !strings.ContainsFunc(text, isRemoved) {
		return strings.ToLower(text)
	}
	text = strings.Map(func(r rune) rune {
		if isRemoved(r) || unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
	return strings.ToLower(text)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isRemoved reports whether a rune is dropped without separating words.
func isRemoved(r rune) bool {
	switch r {
	case '\t', '\n', '\r':
		return false
	case 0, utf8.RuneError:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}

// basicTokens yields words, and each punctuation mark and ideograph by itself.
func basicTokens(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range text {
			alone := isPunctuation(r) || isIdeograph(r)
			if !alone && !unicode.IsSpace(r) {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 && !yield(text[start:i]) {
				return
			}
			start = -1
			if alone && !yield(text[i:i+utf8.RuneLen(r)]) {
				return
			}
		}
		if start >= 0 {
			yield(text[start:])
		}
	}
}

// isPunctuation counts all ASCII symbols as punctuation, as BERT does.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	return unicode.IsPunct(r)
}

func isIdeograph(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0xF900 && r <= 0xFAFF || r >= 0x20000 && r <= 0x2CEAF || r >= 0x2F800 && r <= 0x2FA1F
}

// appendPieces appends the longest pieces of the vocabulary that make up the word, or the unknown
// token if there are none.
func (t *tokenizer) appendPieces(ids []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > maxWordRunes {
		return append(ids, tokenUnknown)
	}
	var buf [len(continuation) + maxTokenBytes]byte
	copy(buf[:], continuation)
	begin := len(ids)
	for from := 0; from < len(word); {
		head := buf[:len(continuation)]
		if from == 0 {
			head = buf[:0]
		}
		to := min(len(word), from+maxTokenBytes)
		id, found := int32(0), false
		for ; to > from; to-- {
			if id, found = t.vocabulary[string(append(head, word[from:to]...))]; found {
				break
			}
		}
		if !found {
			return append(ids[:begin], tokenUnknown)
		}
		ids = append(ids, id)
		from = to
		copy(buf[:], continuation)
	}
	return ids
}

// knows reports whether a word is one token.
func (t *tokenizer) knows(word string) bool {
	_, ok := t.vocabulary[word]
	return ok
}
