package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/capsule"
	"interlock/internal/data"
	"interlock/internal/event"
	"interlock/internal/fault"
)

// verifiedCommands keep and list questions with plans that a person approved.
func (a *app) verifiedCommands() []*cobra.Command {
	var question string
	verify := &cobra.Command{
		Use: "verify RUN", Short: "Keep the question of a run with the plan of its answer as verified", Args: cobra.ExactArgs(1),
		Long: "The question is answered by this plan from now on, whatever the model; models read it as an example, and `interlock eval` asks it.\n" +
			"Of a run that goes on from another one, say the whole question with --question.",
		Example: "  interlock meaning verify r_5966064fd34088e4b7bccf89\n  interlock meaning verify r_5966064fd34088e4b7bccf89 --question \"What was our income in 2025?\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.readData(func(s *system) error { return a.meaningVerify(cmd.Context(), s, args[0], question) })
		},
	}
	verify.Flags().StringVar(&question, "question", "", "the question in full; default what was asked in the run")
	return []*cobra.Command{verify, {
		Use: "verified DATASET", Short: "List the questions whose plans a person approved", Args: cobra.ExactArgs(1),
		Example: "  interlock meaning verified ecommerce",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.readData(func(s *system) error {
				found, err := data.Meanings{Catalog: s.catalog}.VerifiedQuestions(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				a.printVerified(found)
				return nil
			})
		},
	}}
}

func (a *app) printVerified(found data.DatasetVerified) {
	if a.json {
		a.printJSON(found)
		return
	}
	if len(found.Verified) == 0 {
		fmt.Fprintf(a.out, "no question of %s is verified\n", found.DatasetID)
	}
	for _, v := range found.Verified {
		fmt.Fprintf(a.out, "%s  %s\n", v.ID, oneLine(v.Question))
	}
}

// firstRunSeq is where the first run of a thread begins, after the event that opened it.
const firstRunSeq = 2

// meaningVerify keeps the plan of a run that was answered.
func (a *app) meaningVerify(ctx context.Context, s *system, run, question string) error {
	log, err := a.openStore()
	if err != nil {
		return err
	}
	defer log.Close()
	c, err := capsule.Build(ctx, log, run)
	if err != nil {
		return err
	}
	var details struct {
		Plan    json.RawMessage `json:"plan_json"`
		Dataset string          `json:"dataset_id"`
	}
	_ = json.Unmarshal(c.Reply["details"], &details) // details of another form have no plan
	switch {
	case c.Outcome != string(event.Answered):
		return fault.New(fault.BadRequest, "the run %s was not answered: it is %s", run, c.Outcome)
	case len(details.Plan) == 0 || string(details.Plan) == "null":
		return fault.New(fault.BadRequest, "the answer of %s came of no query plan, but of SQL, Python or words", run).Suggest("Ask it so that a plan is made: without a key all questions are.")
	case question == "" && (c.Log.First > firstRunSeq || len(strings.Fields(c.Question)) < 3):
		return fault.New(fault.BadRequest, "the run %s goes on from another one: %q is no question by itself", run, c.Question).Suggest("Say the whole question with --question.")
	case question == "":
		question = c.Question
	}
	if details.Dataset == "" {
		details.Dataset = c.Dataset
	}
	found, err := data.Meanings{Catalog: s.catalog}.Verify(ctx, details.Dataset, "", question, details.Plan)
	if err != nil {
		return err
	}
	kept := found.Verified[len(found.Verified)-1]
	a.printDone(kept, "verified as %s: %s", kept.ID, question)
	return nil
}
