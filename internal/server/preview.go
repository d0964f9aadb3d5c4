package server

import (
	"context"
	"encoding/json"

	"interlock/internal/engine"
	"interlock/internal/fault"
)

// previewQuery says what is to be previewed.
type previewQuery struct {
	Name     string `path:"name" maxLength:"200"`
	Question string `query:"question" maxLength:"20000" doc:"What the person would ask; without it the states are shown, and nothing is looked up"`
	Dataset  string `query:"dataset_id" maxLength:"200"`
	Settings string `query:"settings" maxLength:"20000" doc:"A JSON object of settings that differ from their defaults" example:"{\"documents\": false}"`
}

func (s *Server) preview(ctx context.Context, in *previewQuery) (engine.Preview, error) {
	q := engine.PreviewRequest{Machine: in.Name, Owner: noteOf(ctx).user.Name, Dataset: in.Dataset, Text: in.Question}
	if in.Settings != "" {
		if err := json.Unmarshal([]byte(in.Settings), &q.Settings); err != nil {
			return engine.Preview{}, fault.New(fault.BadSetting, "settings is no JSON object: %v", err).Suggest(`Write it as {"name": value}.`)
		}
	}
	return s.cfg.Engine.Preview(ctx, q)
}
