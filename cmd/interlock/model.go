package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/fault"
	"interlock/internal/llm"
)

func (a *app) modelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "model", Short: "Models on this machine: find their servers, agree to use one, take that back",
		Long: "Without a key the built-in model answers. A model server on this machine that speaks OpenAI's protocol\n" +
			"(Ollama, LM Studio, llama.cpp, vLLM) is found by its port; it is used once you agreed, and never before.",
		Example: "  interlock model list\n  interlock model use http://127.0.0.1:11434/v1 qwen3:8b\n  interlock model forget",
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "The model that answers, and the servers and models that run on this machine", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.listModels(cmd.Context()) },
		},
		&cobra.Command{
			Use: "use URL MODEL", Short: "Agree to use a model of a server on this machine, and find out what it can do", Args: cobra.ExactArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.useModel(cmd.Context(), llm.LocalModel{URL: strings.TrimSuffix(args[0], "/"), Model: args[1], AgreedBy: a.cfg.Owner})
			},
		},
		&cobra.Command{
			Use: "probe", Short: "Find out again what the model that was agreed to can do", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.probeModel(cmd.Context()) },
		},
		&cobra.Command{
			Use: "forget", Short: "Take back what was chosen: the model on this machine, and the key that was given on the page", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.forgetModel(cmd.Context()) },
		},
	)
	return cmd
}

// lookAtModels opens the models without the parts that need data.
func (a *app) lookAtModels() (*models, error) {
	return openModels(&a.cfg, (&system{log: a.logger()}).offline(), a.logger())
}

func (a *app) listModels(ctx context.Context) error {
	m, err := a.lookAtModels()
	if err != nil {
		return err
	}
	v, err := m.Models(ctx)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(v)
		return nil
	}
	fmt.Fprintf(a.out, "%s answers\n", oneLine(v.Model))
	if v.Key != nil {
		fmt.Fprintf(a.out, "key of %s, given by %s on %s\n", v.Key.Provider, oneLine(v.Key.GivenBy), v.Key.GivenAt.Format("2006-01-02"))
	}
	if v.Agreed != nil {
		fmt.Fprintf(a.out, "agreed: %s at %s, on %s; %s\n", oneLine(v.Agreed.Model), oneLine(v.Agreed.URL), v.Agreed.AgreedAt.Format("2006-01-02"), abilitiesText(v.Agreed.Abilities))
	}
	switch {
	case !m.mayUseLocal():
		fmt.Fprintln(a.out, "no server on this machine is looked for: the settings name a model")
	case len(v.Found) == 0:
		fmt.Fprintf(a.out, "no model server runs on this machine at the ports %s\n", a.cfg.ModelPorts)
	}
	for _, s := range v.Found {
		fmt.Fprintf(a.out, "%s at %s: %s\n", oneLine(s.Program), oneLine(s.URL), joinSome(s.Models[:min(20, len(s.Models))], len(s.Models)))
	}
	return nil
}

func (a *app) useModel(ctx context.Context, choice llm.LocalModel) error {
	if err := llm.CheckLocalURL(choice.URL); err != nil {
		return err
	}
	if err := os.MkdirAll(a.cfg.State, 0o700); err != nil {
		return fault.Wrap(err, fault.StoreFailed, "the state folder %s cannot be made: %v", a.cfg.State, err)
	}
	m, err := a.lookAtModels()
	if err != nil {
		return err
	}
	if choice, err = m.agree(ctx, choice); err != nil {
		return err
	}
	if a.json {
		a.printJSON(choice)
		return nil
	}
	fmt.Fprintf(a.out, "%s at %s: %s\n", oneLine(choice.Model), oneLine(choice.URL), abilitiesText(choice.Abilities))
	if !m.mayUseLocal() {
		fmt.Fprintln(a.out, "The settings name another model, which goes first; --provider local takes this one.")
	}
	return nil
}

func (a *app) probeModel(ctx context.Context) error {
	kept, err := llm.ReadChosenModels(a.cfg.chosenModelsFile())
	if err != nil {
		return err
	}
	if kept.Use == nil {
		return fault.New(fault.BadRequest, "nobody agreed to use a model on this machine").Suggest("Run `interlock model use URL MODEL`; `interlock model list` shows what runs.")
	}
	return a.useModel(ctx, *kept.Use)
}

func (a *app) forgetModel(ctx context.Context) error {
	m, err := a.lookAtModels()
	if err == nil && m.key != nil {
		err = m.ForgetKey(ctx)
	}
	if err == nil {
		err = m.ForgetLocal(ctx)
	}
	if err != nil {
		return err
	}
	v, err := m.Models(ctx)
	if err == nil {
		fmt.Fprintf(a.out, "%s answers\n", oneLine(v.Model))
	}
	return err
}

// abilitiesText says in words what a model can do.
func abilitiesText(a *llm.Abilities) string {
	if a == nil {
		return "what it can do is not known; run `interlock model probe`"
	}
	parts := []string{"calls tools", "keeps to schemas", "says nothing about the length of its context"}
	if !a.Tools {
		parts[0] = "calls tools in text only"
	}
	if !a.Schema {
		parts[1] = "is told schemas in words"
	}
	if a.Context > 0 {
		parts[2] = fmt.Sprintf("reads %d tokens", a.Context)
	}
	return strings.Join(parts, ", ")
}

// joinSome lists names that a server gave, and says how many there are if not all are named.
func joinSome(names []string, all int) string {
	text := oneLine(strings.Join(names, ", "))
	if all > len(names) {
		return fmt.Sprintf("%s and %d more", text, all-len(names))
	}
	return text
}

// localOffer is the line that offers a model server which runs and is not used; "" if there
// is none.
func (m *models) localOffer(ctx context.Context) string {
	v, err := m.Models(ctx)
	if err != nil || !v.BuiltIn || len(v.Found) == 0 {
		return ""
	}
	s := v.Found[0]
	return fmt.Sprintf("%s runs at %s with %s: interlock model use %s %s", oneLine(s.Program), s.URL, joinSome(s.Models[:1], len(s.Models)), s.URL, shellWord(s.Models[0]))
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@+-]+$`)

// shellWord writes a text as one word of a command that a person may copy into a shell.
func shellWord(text string) string {
	text = oneLine(text)
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
