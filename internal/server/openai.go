package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"interlock/internal/fault"
)

// openAIPrefix begins the routes that speak as OpenAI's API does, errors included, so that
// existing chat programs can use machines as models.
const openAIPrefix = "/v1/"

const completionsPath = openAIPrefix + "chat/completions"

// historyBytes bounds the list of messages that chat programs send each time.
const historyBytes = 8 << 20

// An openAIModel is a machine, alone or with a dataset, as chat programs list models.
type openAIModel struct {
	ID      string `json:"id" doc:"machine, or machine/dataset"`
	Object  string `json:"object" enum:"model"`
	Created int64  `json:"created" doc:"Always 0: definitions have no date"`
	Owner   string `json:"owned_by"`
}

type openAIModels struct {
	Object string        `json:"object" enum:"list"`
	Data   []openAIModel `json:"data"`
}

func (s *Server) openAIRoutes(t *table) {
	get(t, Viewer, "/v1/models", "The machines as models: each alone, and with each dataset", s.openAIModels)
	get(t, Viewer, "/v1/models/{id}", "A machine as a model", s.openAIModel)
	get(t, Viewer, "/v1/models/{machine}/{dataset}", "A machine with a dataset as a model", s.openAIModelOfDataset)
	op := t.operation(http.MethodPost, completionsPath, "Say something to a machine as to a model; the same list of messages goes on with the same thread")
	op.MaxBodyBytes = max(op.MaxBodyBytes, historyBytes+1)
	raw(t, Analyst, op, "text/event-stream", s.chatCompletion)
	schemas := t.api.OpenAPI().Components.Schemas
	content := t.api.OpenAPI().Paths[completionsPath].Post.Responses["200"].Content
	content["application/json"] = &huma.MediaType{Schema: schemas.Schema(reflect.TypeFor[chatCompletion](), true, "ChatCompletion")}
	content["text/event-stream"].Schema = schemas.Schema(reflect.TypeFor[chatCompletionChunk](), true, "ChatCompletionChunk")
}

func (s *Server) openAIModels(ctx context.Context, _ *none) (openAIModels, error) {
	out := openAIModels{Object: "list", Data: []openAIModel{}}
	datasets, err := s.cfg.Datasets.Datasets(ctx)
	if err != nil {
		return out, err
	}
	for _, m := range s.cfg.Machines.List() {
		out.Data = append(out.Data, asModel(m.Name))
		for _, d := range datasets {
			out.Data = append(out.Data, asModel(m.Name+"/"+d.ID))
		}
	}
	return out, nil
}

func asModel(id string) openAIModel { return openAIModel{ID: id, Object: "model", Owner: "interlock"} }

func (s *Server) openAIModel(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"400"`
},
) (openAIModel, error) {
	_, _, err := s.parseModel(ctx, in.ID)
	return asModel(in.ID), err
}

func (s *Server) openAIModelOfDataset(ctx context.Context, in *struct {
	Machine string `path:"machine" maxLength:"200"`
	Dataset string `path:"dataset" maxLength:"200"`
},
) (openAIModel, error) {
	id := in.Machine + "/" + in.Dataset
	_, _, err := s.parseModel(ctx, id)
	return asModel(id), err
}

// parseModel gives the machine and the dataset that a model's name stands for. Where there is
// one dataset only, it need not be named.
func (s *Server) parseModel(ctx context.Context, model string) (machine, dataset string, err error) {
	machine, dataset, _ = strings.Cut(model, "/")
	if _, err := s.cfg.Machines.Get(machine); err != nil {
		f := fault.New(fault.MachineNotFound, "there is no model %q", truncate(model, 80))
		return "", "", f.Suggest("GET /v1/models lists them: a machine, or machine/dataset.")
	}
	if dataset != "" {
		return machine, dataset, s.knowsDataset(ctx, dataset)
	}
	all, err := s.cfg.Datasets.Datasets(ctx)
	if err == nil && len(all) == 1 {
		dataset = all[0].ID
	}
	return machine, dataset, err
}

// A CompletionRequest is what chat programs send. What would change how a machine works
// (sampling, tools, prompts of the system) is not read; what would promise something that no
// machine does is refused.
type CompletionRequest struct {
	_             struct{}            `json:"-" additionalProperties:"true"`
	Model         string              `json:"model" minLength:"1" maxLength:"400" doc:"As /v1/models names it: machine, or machine/dataset"`
	Messages      []CompletionMessage `json:"messages" minItems:"1" maxItems:"2000" doc:"The conversation so far; the last message is the user's"`
	Stream        bool                `json:"stream,omitempty"`
	StreamOptions CompletionOptions   `json:"stream_options,omitempty"`
	N             int                 `json:"n,omitempty" doc:"1"`
	Format        CompletionFormat    `json:"response_format,omitempty"`
}

// CompletionOptions say what a stream holds.
type CompletionOptions struct {
	_     struct{} `json:"-" additionalProperties:"true"`
	Usage bool     `json:"include_usage,omitempty" doc:"End with a chunk that counts tokens"`
}

// A CompletionFormat is the form of an answer.
type CompletionFormat struct {
	_    struct{} `json:"-" additionalProperties:"true"`
	Type string   `json:"type,omitempty" doc:"text"`
}

// A CompletionMessage is one message of a conversation.
type CompletionMessage struct {
	_       struct{} `json:"-" additionalProperties:"true"`
	Role    string   `json:"role" maxLength:"40" doc:"user and assistant are read; system, developer and tool are not"`
	Content any      `json:"content,omitempty" doc:"A text, or a list of parts of the type text"`
}

// text gives the words of a message.
func (m CompletionMessage) text() (string, error) {
	switch content := m.Content.(type) {
	case nil:
		return "", nil
	case string:
		return strings.TrimSpace(content), nil
	case []any:
		var parts []string
		for _, part := range content {
			p, _ := part.(map[string]any)
			text, isText := p["text"].(string)
			if p["type"] != "text" || !isText {
				return "", fmt.Errorf("holds a part of the type %q; machines read parts of the type text", truncate(fmt.Sprint(p["type"]), 40))
			}
			parts = append(parts, text)
		}
		return strings.TrimSpace(strings.Join(parts, "\n")), nil
	}
	return "", errors.New("is neither a text nor a list of parts")
}

// conversation reads the request.
func (r CompletionRequest) conversation() (conversation, error) {
	c := conversation{model: r.Model}
	switch {
	case r.N > 1:
		return c, badRequest("n is %d: a machine gives one answer", r.N)
	case !slices.Contains([]string{"", "text"}, r.Format.Type):
		return c, badRequest("response_format %q: machines answer in text", truncate(r.Format.Type, 40))
	case r.Messages[len(r.Messages)-1].Role != "user":
		return c, badRequest("the last message must have the role user")
	}
	heard := ""
	for i, m := range r.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			continue
		}
		text, err := m.text()
		if err != nil && m.Role == "user" {
			return c, badRequest("messages[%d].content %v", i, err)
		}
		if m.Role == "assistant" {
			heard = text
			continue
		}
		if text != "" {
			c.said, c.heard = append(c.said, text), heard
			heard = ""
		}
	}
	if text, _ := r.Messages[len(r.Messages)-1].text(); text == "" {
		return c, badRequest("the last message is empty")
	}
	return c, nil
}
