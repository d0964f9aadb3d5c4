// Command eino times a ReAct agent of cloudwego/eino: a scripted model, a trivial
// tool, everything in memory. It prints one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
)

func main() {
	steps := flag.Int("steps", 100, "tool calls in a run")
	runs := flag.Int("runs", 30, "runs; the median counts")
	flag.Parse()
	us, err := measure(context.Background(), *steps, *runs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "eino:", err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"peer": "eino", "steps": *steps, "us_per_step": us})
}

func measure(ctx context.Context, steps, runs int) (float64, error) {
	m := &scripted{steps: steps}
	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: m,
		ToolsConfig:      compose.ToolsNodeConfig{Tools: []tool.BaseTool{echo{}}},
		MaxStep:          2*steps + 4,
	})
	if err != nil {
		return 0, err
	}
	var took []time.Duration
	for range runs + 3 { // the first ones warm up
		m.said = 0
		begun := time.Now()
		answer, err := agent.Generate(ctx, []*schema.Message{schema.UserMessage("Count.")})
		if err != nil {
			return 0, err
		}
		if answer.Content != "done" {
			return 0, fmt.Errorf("the run ended with %q", answer.Content)
		}
		took = append(took, time.Since(begun))
	}
	took = took[3:]
	slices.Sort(took)
	return float64(took[len(took)/2].Nanoseconds()) / 1e3 / float64(steps), nil
}

// scripted calls the tool a number of times and then answers.
type scripted struct{ steps, said int }

func (m *scripted) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	m.said++
	if m.said > m.steps {
		return schema.AssistantMessage("done", nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{
		ID: fmt.Sprint("call_", m.said), Type: "function",
		Function: schema.FunctionCall{Name: "echo", Arguments: fmt.Sprintf(`{"text":"step %d"}`, m.said)},
	}}), nil
}

func (m *scripted) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	msg, err := m.Generate(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{msg}), nil
}

func (m *scripted) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

// echo gives back its text.
type echo struct{}

func (echo) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{
		Name: "echo", Desc: "Gives back its text.",
		ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"text": {Type: schema.String, Required: true}}),
	}, nil
}

func (echo) InvokableRun(_ context.Context, arguments string, _ ...tool.Option) (string, error) {
	var in struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal([]byte(arguments), &in); err != nil {
		return "", err
	}
	out, err := json.Marshal(in)
	return string(out), err
}
