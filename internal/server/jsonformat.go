package server

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// jsonFormat is JSON in which a member that is null counts as absent, as most
// clients mean it.
var jsonFormat = huma.Format{
	Marshal: huma.DefaultJSONFormat.Marshal,
	Unmarshal: func(data []byte, v any) error {
		err := json.Unmarshal(data, v)
		if parsed, ok := v.(*any); ok && err == nil {
			dropNulls(*parsed)
		}
		return err
	},
}

func dropNulls(v any) {
	members, ok := v.(map[string]any)
	if !ok {
		return
	}
	for name, member := range members {
		if member == nil {
			delete(members, name)
		}
		dropNulls(member)
	}
}
