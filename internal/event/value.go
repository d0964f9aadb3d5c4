package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// InlineBytes is the size up to which a value stands in the event itself.
// Larger ones are stored once by content hash and referred to.
const InlineBytes = 2048

// A Value is JSON inside an event: inline when small, else known by its hash.
// A large value may carry its bytes as well, until it is stored or once it has
// been resolved.
type Value struct {
	Hash string          // "" for an inline value
	JSON json.RawMessage // nil for a large one that is not resolved
}

// Of makes a value of JSON text. A small one loses its white space, as it would in
// the log, so that a live value and a stored one are the same bytes.
func Of(raw json.RawMessage) Value {
	if len(raw) > InlineBytes {
		return Value{Hash: Hash(raw), JSON: raw}
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return Value{JSON: raw}
	}
	return Value{JSON: b.Bytes()}
}

// From encodes v; it panics only where v cannot be JSON at all, which is a bug.
func From(v any) Value {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("event: value %T is no JSON: %v", v, err))
	}
	return Of(raw)
}

// Hash is the content hash under which a blob is stored.
func Hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// IsZero lets `omitzero` leave out a value that was never set.
func (v Value) IsZero() bool { return v.Hash == "" && v.JSON == nil }

// Resolved says whether the JSON is at hand.
func (v Value) Resolved() bool { return v.JSON != nil || v.Hash == "" }

// Ref gives the value without the bytes of a large one.
func (v Value) Ref() Value {
	if v.Hash != "" {
		v.JSON = nil
	}
	return v
}

// Decode gives the plain Go value; an unresolved one is nil.
func (v Value) Decode() any {
	if v.JSON == nil {
		return nil
	}
	var out any
	if json.Unmarshal(v.JSON, &out) != nil {
		return nil
	}
	return out
}

// Marshal encodes what goes to the store. JSON inside it keeps its bytes: <, > and &
// are not escaped, so that what is read back is what was in memory.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

type blobRef struct {
	Blob string `json:"$blob"`
}

// MarshalJSON writes the reference of a large value, never its bytes: the bytes
// are a blob of the store. Inline hands out the resolved form.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Hash != "" {
		return json.Marshal(blobRef{v.Hash})
	}
	if v.JSON == nil {
		return []byte("null"), nil
	}
	return v.JSON, nil
}

// UnmarshalJSON reads either form.
func (v *Value) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if bytes.HasPrefix(data, []byte(`{"$blob":`)) {
		var r blobRef
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		*v = Value{Hash: r.Blob}
		return nil
	}
	*v = Value{JSON: bytes.Clone(data)}
	return nil
}

// Inline gives the value without its hash, so that it is written whole: for
// clients, which know no blobs.
func (v Value) Inline() Value { return Value{JSON: v.JSON} }
