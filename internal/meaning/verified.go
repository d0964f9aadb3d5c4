package meaning

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// Bounds of verified questions; the list's as its schema says.
const (
	maxVerified      = 500
	maxVerifiedChars = 500
)

// VerifiedID names a verified question, so that it can be removed.
func VerifiedID(question string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(question)))
	return "v" + hex.EncodeToString(sum[:6])
}

// AddVerified gives the text of a semantic model with one more verified question; the same question
// with another plan takes the place of the one before. The rest of the text stays as it is.
func AddVerified(file string, text []byte, d schema.Dataset, q schema.VerifiedQuestion) ([]byte, error) {
	q.Question = strings.Join(strings.Fields(q.Question), " ")
	if q.Question == "" || len(q.Question) > maxVerifiedChars || strings.ContainsFunc(q.Question, unicode.IsControl) {
		return nil, fault.New(fault.BadRequest, "a verified question is a text of up to %d bytes", maxVerifiedChars)
	}
	if len(text) == 0 {
		text = bareModel(d)
	}
	return changeList(file, text, d, "verified", func(list []schema.VerifiedQuestion) ([]schema.VerifiedQuestion, error) {
		list = slices.DeleteFunc(list, func(o schema.VerifiedQuestion) bool { return strings.EqualFold(o.Question, q.Question) })
		if len(list) >= maxVerified {
			return nil, fault.New(fault.TooLarge, "%d questions are verified already", len(list)).Suggest("Forget some first.")
		}
		return append(list, q), nil
	})
}

// RemoveVerified gives the text without the verified question of that id.
func RemoveVerified(file string, text []byte, d schema.Dataset, id string) ([]byte, error) {
	return changeList(file, text, d, "verified", func(list []schema.VerifiedQuestion) ([]schema.VerifiedQuestion, error) {
		kept := slices.DeleteFunc(slices.Clone(list), func(q schema.VerifiedQuestion) bool { return VerifiedID(q.Question) == id })
		if len(kept) == len(list) {
			return nil, fault.New(fault.NotFound, "no verified question of %q has the id %.40q", d.ID, id).Suggest("List them with `interlock meaning verified %s`.", d.ID)
		}
		return kept, nil
	})
}
