package server

import "context"

// Meanings are the semantic models of datasets: what their words mean.
type Meanings interface {
	// Meaning gives the semantic model of a dataset, checked against its tables.
	Meaning(ctx context.Context, dataset string) (any, error)
	// ReplaceMeaning stores a text as the semantic model in the place of the one of that
	// version, "" where there was none, for a user; "" is the operator.
	ReplaceMeaning(ctx context.Context, dataset, version, user, text string) (any, error)
}

func (s *Server) meaning(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"200"`
},
) (any, error) {
	return s.cfg.Meanings.Meaning(ctx, in.ID)
}

// replaceMeaning checks a semantic model and stores it. Two who edit at once do not overwrite
// each other: who sends the version of another text is told so.
func (s *Server) replaceMeaning(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"200"`
	Body struct {
		Text    string `json:"text" maxLength:"1048576" doc:"The semantic model in the format of Apache Ossie, YAML or JSON"`
		Version string `json:"version" maxLength:"100" doc:"The version that it takes the place of; empty where there is none"`
	}
},
) (any, error) {
	return s.cfg.Meanings.ReplaceMeaning(ctx, in.ID, in.Body.Version, uploader(ctx), in.Body.Text)
}
