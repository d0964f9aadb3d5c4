package server

import (
	"context"

	"interlock/internal/llm"
)

// Models shows which model answers, and lets a person agree to one on this machine.
type Models interface {
	// Models looks for model servers on this machine if no other model is configured.
	Models(ctx context.Context) (ModelsView, error)
	// UseLocal makes a model of a server that was found the one that answers.
	UseLocal(ctx context.Context, by, url, model string) error
	// ForgetLocal takes the agreement back.
	ForgetLocal(ctx context.Context) error
}

// A ModelsView is which model answers, and which others could.
type ModelsView struct {
	Model   string            `json:"model" doc:"Provider and name of the model that answers"`
	BuiltIn bool              `json:"built_in" doc:"It is the one that needs no key and no server"`
	Agreed  *llm.LocalModel   `json:"agreed,omitempty" doc:"The model on this machine that a person agreed to use"`
	Found   []llm.LocalServer `json:"found" doc:"Model servers that run on this machine; looked for only where no key and no address of a model is configured. None is used before somebody agreed"`
}

func (s *Server) models(ctx context.Context, _ *none) (ModelsView, error) {
	v, err := s.cfg.Models.Models(ctx)
	v.Found = orEmpty(v.Found)
	return v, err
}

// A LocalChoice names a model on this machine.
type LocalChoice struct {
	URL   string `json:"url" minLength:"1" maxLength:"200" doc:"Address of a server that was found"`
	Model string `json:"model" minLength:"1" maxLength:"200" doc:"One of its models"`
}

func (s *Server) useLocalModel(ctx context.Context, in *struct{ Body LocalChoice }) (ModelsView, error) {
	if err := s.cfg.Models.UseLocal(ctx, noteOf(ctx).user.Name, in.Body.URL, in.Body.Model); err != nil {
		return ModelsView{}, err
	}
	return s.models(ctx, nil)
}

func (s *Server) forgetLocalModel(ctx context.Context, _ *none) (ModelsView, error) {
	if err := s.cfg.Models.ForgetLocal(ctx); err != nil {
		return ModelsView{}, err
	}
	return s.models(ctx, nil)
}
