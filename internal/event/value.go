package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// InlineBytes is the size up to which a value is stored in the event itself. Larger values
// are stored as blobs, and the event holds their hash.
const InlineBytes = 2048

// A Value is JSON inside an event. A small value is inline. A large value has a hash, and
// its bytes as well until it is stored and after it has been resolved.
type Value struct {
	Hash string          // "" for an inline value
	JSON json.RawMessage // nil for a large one that is not resolved
}

// NewValue returns the value of a JSON text. White space is removed from a small one, as
// storing it would do, so that a live value and a stored one are the same bytes. A text that
// would be read back as a reference, which a model or a tool may write, is stored as a blob.
func NewValue(raw json.RawMessage) Value {
	if len(raw) > InlineBytes {
		return Value{Hash: Hash(raw), JSON: raw}
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return Value{JSON: raw}
	}
	if bytes.HasPrefix(b.Bytes(), []byte(refPrefix)) {
		return Value{Hash: Hash(b.Bytes()), JSON: b.Bytes()}
	}
	return Value{JSON: b.Bytes()}
}

// EncodeValue encodes v. It panics if v cannot be encoded as JSON, which is a bug.
func EncodeValue(v any) Value {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("event: value %T is no JSON: %v", v, err))
	}
	return NewValue(raw)
}

// Hash returns the content hash under which a blob is stored.
func Hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// IsZero reports whether the value was never set, for `omitzero`.
func (v Value) IsZero() bool { return v.Hash == "" && v.JSON == nil }

// Resolved reports whether the value has its bytes.
func (v Value) Resolved() bool { return v.JSON != nil || v.Hash == "" }

// WithoutBytes returns the value; of a large one only the hash is left.
func (v Value) WithoutBytes() Value {
	if v.Hash != "" {
		v.JSON = nil
	}
	return v
}

// Decode returns the decoded JSON, nil if the value is not resolved.
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

// NewEncoder returns an encoder for the store. It does not escape <, > and &, so that JSON
// inside a value is read back with the same bytes. It writes a line break after each value.
func NewEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// Marshal encodes one value for the store.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := NewEncoder(&b).Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// refPrefix is how a stored reference begins.
const refPrefix = `{"$blob":`

type blobRef struct {
	Blob string `json:"$blob"`
}

// MarshalJSON encodes a large value as a reference to its blob. Inline returns a value
// that is encoded whole.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Hash != "" {
		return json.Marshal(blobRef{v.Hash})
	}
	if v.JSON == nil {
		return []byte("null"), nil
	}
	return v.JSON, nil
}

// UnmarshalJSON decodes a reference or an inline value.
func (v *Value) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if bytes.HasPrefix(data, []byte(refPrefix)) {
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

// Inline returns the value without its hash, so that it is encoded whole. It is for
// clients, which cannot load blobs.
func (v Value) Inline() Value { return Value{JSON: v.JSON} }
