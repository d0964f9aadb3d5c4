package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"interlock/internal/fault"
	"interlock/internal/recon"
	"interlock/internal/schema"
)

// reconcileOptions are the flags of `interlock reconcile`.
type reconcileOptions struct {
	left, right           string // sources
	leftWhere, rightWhere []string
	leftKey, rightKey     string
	pairs, rejected       string // files of labels
	truth                 string
	recipe, saveRecipe    string
	previous, out         string
	yes                   bool
}

func (a *app) reconcileCommand() *cobra.Command {
	var o reconcileOptions
	cmd := &cobra.Command{
		Use: "reconcile [LEFT RIGHT]", Short: "Match the rows of two sources that should agree, and write the evidence", Args: cobra.MaximumNArgs(2),
		Long: "Reconcile matches the rows of two sources: invoices and payments, a ledger and a bank statement,\n" +
			"two lists of customers. It learns the rules from the data and from pairs that you confirm, says them\n" +
			"in plain sentences, asks before it applies them, and writes what it found with the evidence.\n\n" +
			"A source is a file, or a table of a dataset or a connected database by its alias (see `interlock\n" +
			"sources list`). Conditions run where the rows are: only rows that meet them travel.",
		Example: "  interlock reconcile invoices.csv bank.csv\n" +
			"  interlock reconcile invoices.csv bank.csv --pairs pairs.csv --yes --out october\n" +
			"  interlock reconcile --recipe october/recipe.json --previous october --out november invoices.csv bank.csv\n" +
			"  interlock reconcile shop.invoices bank.csv --left-where 'booked between 2025-10-01,2025-10-31'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return usageError{errors.New("a reconciliation has two sources: name the right one too")}
			}
			if len(args) == 2 {
				o.left, o.right = args[0], args[1]
			}
			return a.readData(func(s *system) error { return a.reconcile(cmd.Context(), s, o) })
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.leftWhere, "left-where", nil, "a condition on the left rows, 'column op value'; op is eq, neq, gt, gte, lt, lte, between, in or like; may be repeated")
	f.StringArrayVar(&o.rightWhere, "right-where", nil, "a condition on the right rows")
	f.StringVar(&o.leftKey, "left-key", "", "the column that names the left rows; found if absent")
	f.StringVar(&o.rightKey, "right-key", "", "the column that names the right rows; found if absent")
	f.StringVar(&o.pairs, "pairs", "", "a CSV file of pairs that belong together: a header, a left key and a right key")
	f.StringVar(&o.rejected, "rejected", "", "a CSV file of pairs that do not belong together")
	f.StringVar(&o.truth, "truth", "", "a CSV file of all true pairs: precision, recall and F1 are told")
	f.StringVar(&o.recipe, "recipe", "", "apply this recipe instead of learning one")
	f.StringVar(&o.saveRecipe, "save-recipe", "", "write the recipe to this file")
	f.StringVar(&o.previous, "previous", "", "the folder of an earlier run, or the id of a run of a thread: its open items are carried over, and what changed is told")
	f.StringVar(&o.out, "out", "", "the folder for the evidence: CSV, Parquet, a workbook, the recipe and the report")
	f.BoolVarP(&o.yes, "yes", "y", false, "ask nothing")
	return cmd
}

// A reconciliation is one call of the command.
type reconciliation struct {
	*app
	options  reconcileOptions
	system   *system
	recon    *recon.Reconciler
	lines    lineReader
	bar      *progressBar
	input    recon.Input
	report   recon.Report
	previous *recon.Previous
	scope    [2][]schema.Condition
	tables   [2]string     // of the workspace
	own      [2]recon.Side // both sides without what was carried over
	asked    int           // pairs that the person was asked about
	imported string        // folder of imported files
}

// reconcile opens both sources, learns or reads the recipe, runs it and shows what came of it.
func (a *app) reconcile(ctx context.Context, s *system, o reconcileOptions) error {
	c := &reconciliation{app: a, options: o, system: s, lines: newLineReader(a.in, a.errw), bar: newProgressBar(a.errw, a.json)}
	defer c.bar.end()
	var err error
	if c.imported, err = os.MkdirTemp(s.stateDir(a.cfg, "tmp"), "reconcile-"); err != nil {
		return fmt.Errorf("making a folder for the sources: %w", err)
	}
	defer os.RemoveAll(c.imported)
	recipe, err := c.givenRecipe(ctx)
	if err != nil {
		return err
	}
	if goOn, err := c.checkOut(); err != nil || !goOn {
		return err
	}
	space, err := c.openSides(ctx, recipe)
	if err != nil {
		return err
	}
	defer space.Close()
	if c.recon, err = recon.New(recon.Config{Workspace: space, Progress: func(p recon.Progress) { c.bar.show(progress{step: p.Step, done: p.Done, total: p.Total}) }}); err != nil {
		return err
	}
	truth, err := c.findRows(ctx, recipe)
	if err != nil {
		return err
	}
	var lesson *recon.Lesson
	if recipe == nil {
		if lesson, err = c.learn(ctx); errors.Is(err, errLeft) {
			c.code = exitNeedsAnswer
			fmt.Fprintln(c.errw, "Nothing was matched: you left.")
			return c.keepAnswers()
		} else if err != nil {
			return err
		}
		recipe = lesson.Recipe
		recipe.Left.Source, recipe.Right.Source = c.report.Left.Name, c.report.Right.Name
		recipe.Left.Scope, recipe.Right.Scope = c.scope[0], c.scope[1]
	}
	c.report.Recipe = recipe
	if o.out != "" {
		c.report.Recipe = recipeIn(o.out, recipe)
	}
	if o.saveRecipe != "" {
		if err := os.WriteFile(o.saveRecipe, recipeIn(filepath.Dir(o.saveRecipe), recipe).Encode(), 0o600); err != nil {
			return fault.Wrap(err, fault.BadRequest, "%s cannot be written: %v", o.saveRecipe, err)
		}
	}
	c.showRecipe(recipe, lesson)
	if !c.agree() {
		return c.keepAnswers()
	}
	began := time.Now()
	outcome, err := c.recon.Run(ctx, c.input, recipe)
	c.bar.end()
	if err != nil {
		c.showProblems(err)
		return err
	}
	return c.finish(ctx, outcome, lesson, truth, time.Since(began))
}

// finish scores and compares the run, writes its evidence and shows it.
func (c *reconciliation) finish(ctx context.Context, outcome *recon.Outcome, lesson *recon.Lesson, truth []recon.Pair, took time.Duration) error {
	rep := &c.report
	rep.Program, rep.By, rep.At, rep.Outcome = "interlock "+version(), c.cfg.Owner, time.Now().UTC().Truncate(time.Second), outcome
	rep.Confirmed, rep.Rejected, rep.RecipeHash = len(c.input.Labels.Confirmed), len(c.input.Labels.Rejected), rep.Recipe.Hash()
	if c.previous != nil {
		if err := c.countCarried(ctx, outcome); err != nil {
			return err
		}
		drift := recon.CompareRuns(c.previous.Report.Outcome, outcome)
		rep.Drift = &drift
	}
	result := reconcileResult{Report: rep, Outcome: outcome, Seconds: took.Seconds()}
	if lesson != nil {
		result.Problems = lesson.Problems
	}
	var err error
	if truth != nil {
		score, err := c.recon.ScoreRun(ctx, truth)
		if err != nil {
			return err
		}
		result.Score = &score
	}
	if c.options.out != "" {
		c.bar.show(progress{step: "writing the evidence"})
		result.Files, err = c.recon.WriteEvidence(ctx, c.options.out, c.input, *rep)
		c.bar.end()
		if err != nil {
			return err
		}
	}
	if c.json {
		c.printJSON(result)
		return nil
	}
	return c.showOutcome(ctx, result)
}

// reconcileResult is what the command prints for programs.
type reconcileResult struct {
	*recon.Score
	*recon.Outcome
	Seconds  float64              `json:"seconds"`
	Problems []recon.LabelProblem `json:"problems,omitempty"`
	Report   *recon.Report        `json:"report"`
	Files    []string             `json:"files,omitempty"`
}

// givenRecipe reads the recipe that is to be applied: the one that was named, or that of
// the earlier run. It is nil where one is to be learned.
func (c *reconciliation) givenRecipe(ctx context.Context) (recipe *recon.Recipe, err error) {
	if c.options.previous != "" {
		if c.previous, err = c.readPrevious(ctx); err != nil {
			return nil, err
		}
		recipe = c.previous.Recipe
		findSources(c.options.previous, recipe)
	}
	if c.options.recipe != "" {
		raw, err := os.ReadFile(c.options.recipe)
		if err != nil {
			return nil, fault.Wrap(err, fault.BadRequest, "The recipe cannot be read: %v", err)
		}
		recipe, err = recon.ParseRecipe(raw)
		if err != nil {
			c.showProblems(err)
			return nil, err
		}
		findSources(filepath.Dir(c.options.recipe), recipe)
	}
	return recipe, nil
}

// agree asks whether the recipe is to be applied.
func (c *reconciliation) agree() bool {
	if c.options.yes || c.options.recipe != "" || c.options.previous != "" {
		return true // a recipe was agreed to when it was made
	}
	answer, ok := c.choose("Apply these rules?", "y", "n")
	if !ok {
		c.code = exitNeedsAnswer
		fmt.Fprintln(c.errw, "Nothing was matched: nobody said yes. --yes applies the rules without asking.")
		return false
	}
	if answer == "n" {
		c.code = exitDeclined
		fmt.Fprintln(c.errw, "Nothing was matched. --pairs and --rejected teach other rules; --save-recipe writes them down to be edited.")
		return false
	}
	return true
}
