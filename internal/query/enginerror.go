package query

import (
	"encoding/json"
	"strconv"
	"strings"
)

// An engineErr is what the engine says about a statement that it cannot run.
type engineErr struct {
	Kind     string // "Binder", "Out of Memory", "INTERRUPT", ...
	Message  string
	Position int // of the byte in the text, -1 if unknown
}

func (e *engineErr) Error() string { return e.Kind + " Error: " + e.Message }

// engineError reads the engine's message: JSON where the session asks for that,
// otherwise "Kind Error: text".
func engineError(message string) *engineErr {
	e := &engineErr{Position: -1}
	var doc struct {
		Type     string `json:"exception_type"`
		Message  string `json:"exception_message"`
		Position string `json:"position"`
	}
	if strings.HasPrefix(message, "{") && json.Unmarshal([]byte(message), &doc) == nil {
		e.Kind, e.Message = doc.Type, doc.Message
		if n, err := strconv.Atoi(doc.Position); err == nil {
			e.Position = n
		}
		return e
	}
	e.Message = message
	if kind, rest, ok := strings.Cut(message, " Error: "); ok && len(kind) < 40 {
		e.Kind, e.Message = kind, rest
	}
	return e
}
