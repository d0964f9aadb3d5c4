package server

import (
	"context"
	"encoding/json"
)

// Meanings are the semantic models of datasets: what their words mean.
type Meanings interface {
	// Meaning gives the semantic model of a dataset, checked against its tables.
	Meaning(ctx context.Context, dataset string) (any, error)
	// ReplaceMeaning stores a text as the semantic model in the place of the one of that
	// version, "" where there was none, for a user; "" is the operator.
	ReplaceMeaning(ctx context.Context, dataset, version, user, text string) (any, error)
	// MeaningChoices lists the choices that people wanted to be remembered.
	MeaningChoices(ctx context.Context, dataset string) (any, error)
	// RememberChoice writes a choice into the semantic model, for a user; "" is the operator.
	RememberChoice(ctx context.Context, dataset, user, term, reading string) (any, error)
	// ForgetChoice takes the choice of that id out of it.
	ForgetChoice(ctx context.Context, dataset, user, choice string) (any, error)
}

// Verified are the questions of datasets whose plans people approved.
type Verified interface {
	// ListVerified lists them.
	ListVerified(ctx context.Context, dataset string) (any, error)
	// AddVerified writes a question with its query plan into the semantic model, for a user; "" is
	// the operator.
	AddVerified(ctx context.Context, dataset, user, question string, plan json.RawMessage) (any, error)
	// RemoveVerified takes the question of that id out of it.
	RemoveVerified(ctx context.Context, dataset, user, verified string) (any, error)
}

func (s *Server) listVerified(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"200"`
},
) (any, error) {
	return s.cfg.Verified.ListVerified(ctx, in.ID)
}

// addVerified keeps a question with the plan of an answer that a person approved. The request is the
// approval: no tool that a model can call does this.
func (s *Server) addVerified(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"200"`
	Body struct {
		Question string          `json:"question" minLength:"1" maxLength:"500" doc:"The question, as people ask it"`
		Plan     json.RawMessage `json:"plan" doc:"The query plan: plan_json of the details of its answer"`
	}
},
) (any, error) {
	return s.cfg.Verified.AddVerified(ctx, in.ID, uploader(ctx), in.Body.Question, in.Body.Plan)
}

func (s *Server) removeVerified(ctx context.Context, in *struct {
	ID       string `path:"id" maxLength:"200"`
	Verified string `path:"verified" maxLength:"40"`
},
) (any, error) {
	return s.cfg.Verified.RemoveVerified(ctx, in.ID, uploader(ctx), in.Verified)
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

func (s *Server) meaningChoices(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"200"`
},
) (any, error) {
	return s.cfg.Meanings.MeaningChoices(ctx, in.ID)
}

// rememberChoice writes down what a person chose at a question back. The request is the person's
// agreement: no tool that a model can call does this.
func (s *Server) rememberChoice(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"200"`
	Body struct {
		Term    string `json:"term" minLength:"1" maxLength:"100" doc:"The words that could be read in several ways"`
		Reading string `json:"reading" minLength:"1" maxLength:"200" doc:"The choice, in the words of the question back"`
	}
},
) (any, error) {
	return s.cfg.Meanings.RememberChoice(ctx, in.ID, uploader(ctx), in.Body.Term, in.Body.Reading)
}

func (s *Server) forgetChoice(ctx context.Context, in *struct {
	ID     string `path:"id" maxLength:"200"`
	Choice string `path:"choice" maxLength:"40"`
},
) (any, error) {
	return s.cfg.Meanings.ForgetChoice(ctx, in.ID, uploader(ctx), in.Choice)
}
