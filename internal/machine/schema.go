package machine

import (
	_ "embed"
	"slices"
)

//go:generate go test . -run Generated -update

//go:embed machine.schema.json
var schemaJSON []byte

// Schema is the JSON Schema of the format, for editors: it completes and checks
// keys and forms. What a definition means is checked by Check alone.
func Schema() []byte { return slices.Clone(schemaJSON) }
