package main

import (
	"interlock/internal/data"
	"interlock/internal/llm"
	"interlock/internal/toolbox"
)

// offline is the model that needs no key, over the knowledge that the planner's tools
// use too.
func (s *system) offline() llm.Model {
	if s.knowledge == nil {
		s.knowledge = toolbox.NewKnowledge(data.Datasets{Catalog: s.catalog})
	}
	return llm.NewOffline(s.knowledge)
}
