package main

import (
	"context"
	"fmt"

	"interlock/internal/data"
	"interlock/internal/fault"
	"interlock/internal/llm"
)

// proposalTokens bounds what a model writes to draft a semantic model.
const proposalTokens = 8000

// suggestWithModel drafts a semantic model with the help of the model in use: one call, whose
// cost is said. The draft goes where one without a model goes.
func (a *app) suggestWithModel(ctx context.Context, s *system, dataset string) ([]byte, error) {
	models, err := openModels(&a.cfg, s.offline(), s.log)
	if err != nil {
		return nil, err
	}
	model, err := models.Model("")
	if err != nil {
		return nil, err
	}
	if model.Name() == llm.Offline {
		return nil, fault.New(fault.BadSetting, "--with-model is set, and no model is in use besides the built-in one, which drafts nothing").
			Suggest("Set ANTHROPIC_API_KEY or OPENAI_API_KEY, name a server with --openai-url and --model, or agree to one on this machine with `interlock model use`.")
	}
	fmt.Fprintf(a.errw, "Asking %s, which reads names, values and dictionary of %s ...\n", oneLine(model.Name()), oneLine(dataset))
	out, err := data.Meanings{Catalog: s.catalog}.SuggestWith(ctx, dataset, func(ctx context.Context, system, prompt string, output []byte) (string, string, error) {
		reply, err := askOnce(ctx, model, llm.Request{System: system, Messages: []llm.Message{{Role: llm.User, Text: prompt}}, Output: output, MaxTokens: proposalTokens})
		usage := llm.UsageOf(err)
		if reply != nil {
			usage = reply.Usage
		}
		fmt.Fprintf(a.errw, "%d tokens in, %d out, %.4f $\n", usage.Input+usage.CacheRead+usage.CacheWrite, usage.Output, float64(usage.MicroUSD)/1e6)
		if err != nil {
			return "", "", err
		}
		return reply.Text, model.Name(), nil
	})
	if err != nil {
		return nil, err
	}
	left := ""
	if out.Left > 0 {
		left = fmt.Sprintf("; %d parts do not fit and are named at the top of the draft", out.Left)
	}
	fmt.Fprintf(a.errw, "%s drafted %d labels, synonyms and metrics that fit the tables%s. Keep what is right.\n", oneLine(out.Model), out.Taken, left)
	return out.Text, nil
}

// askOnce gives the whole reply of a model.
func askOnce(ctx context.Context, m llm.Model, req llm.Request) (*llm.Reply, error) {
	for delta, err := range m.Reply(ctx, req) {
		if err != nil {
			return nil, err
		}
		if delta.Reply != nil {
			return delta.Reply, nil
		}
	}
	return nil, fault.New(fault.ModelFailed, "%s ended without a reply", m.Name())
}
