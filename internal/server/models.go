package server

import (
	"context"
	"strings"
	"time"

	"interlock/internal/llm"
)

// Models shows which model answers, and lets a person give the key of a provider or agree to
// a model on this machine.
type Models interface {
	// Models looks for model servers on this machine if no other model is configured.
	Models(ctx context.Context) (ModelsView, error)
	// UseLocal makes a model of a server that was found the one that answers.
	UseLocal(ctx context.Context, by, url, model string) error
	// ForgetLocal takes the agreement back.
	ForgetLocal(ctx context.Context) error
	// GiveKey makes the provider of a key the one that answers, if it accepts the key.
	GiveKey(ctx context.Context, key llm.GivenKey) error
	// ForgetKey drops the key.
	ForgetKey(ctx context.Context) error
}

// A ModelsView is which model answers, and which others could.
type ModelsView struct {
	Model   string            `json:"model" doc:"Provider and name of the model that answers"`
	BuiltIn bool              `json:"built_in" doc:"It is the one that needs no key and no server"`
	Agreed  *llm.LocalModel   `json:"agreed,omitempty" doc:"The model on this machine that a person agreed to use"`
	Found   []llm.LocalServer `json:"found" doc:"Model servers that run on this machine; looked for only where no key and no address of a model is configured. None is used before somebody agreed"`

	TakesKey bool     `json:"takes_key" doc:"A key that is given here would be used: the settings of the server name no model"`
	Key      *KeyView `json:"key,omitempty" doc:"The key that a person gave. It can be replaced and dropped, and is never told again"`
}

// A KeyView is what is told of a key that a person gave.
type KeyView struct {
	Provider string    `json:"provider"`
	Model    string    `json:"model,omitempty"`
	End      string    `json:"end,omitempty" doc:"Its last characters, by which a person knows it again"`
	GivenBy  string    `json:"given_by,omitempty"`
	GivenAt  time.Time `json:"given_at"`
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

func (s *Server) giveModelKey(ctx context.Context, in *struct {
	Body struct {
		Provider string `json:"provider" enum:"openai,anthropic"`
		Model    string `json:"model,omitempty" maxLength:"200" doc:"One of its models; its default if left out"`
		Key      string `json:"key" writeOnly:"true" doc:"The key; it goes to its provider only, and is never told again"`
	}
},
) (ModelsView, error) {
	key := llm.GivenKey{Provider: in.Body.Provider, Model: strings.TrimSpace(in.Body.Model), Key: strings.TrimSpace(in.Body.Key), GivenBy: noteOf(ctx).user.Name}
	if err := s.cfg.Models.GiveKey(ctx, key); err != nil {
		return ModelsView{}, err
	}
	return s.models(ctx, nil)
}

func (s *Server) forgetModelKey(ctx context.Context, _ *none) (ModelsView, error) {
	if err := s.cfg.Models.ForgetKey(ctx); err != nil {
		return ModelsView{}, err
	}
	return s.models(ctx, nil)
}
