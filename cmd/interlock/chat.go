package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/schema"
)

func (a *app) chatCommand() *cobra.Command {
	c := chat{app: a}
	cmd := &cobra.Command{
		Use: "chat [MESSAGE]", Short: "Chat in the terminal, with any machine", Args: cobra.ArbitraryArgs,
		Long: "With a message, chat answers it and ends; without one it reads messages line by line until the end\nof input. " +
			"Questions of the machine are asked in between. Lines that begin with / are commands of\nthe chat: /help lists them.",
		Example:     "  interlock chat --data ./data\n  interlock chat --dataset shop \"How many orders were returned?\"\n  interlock chat --dataset shop \"SQL: SELECT count(*) FROM orders\"",
		Annotations: map[string]string{ownInterrupts: "turns"},
		RunE:        func(cmd *cobra.Command, args []string) error { return c.runCommand(cmd, args) },
	}
	cmd.Flags().StringVar(&c.machine, "machine", "analyst", "the machine of a new thread")
	cmd.Flags().StringVar(&c.dataset, "dataset", "", "the dataset of the turns")
	cmd.Flags().StringVar(&c.thread, "thread", "", "continue this thread")
	cmd.Flags().StringArrayVar(&c.set, "set", nil, "a setting of the machine: name=value; may be repeated")
	c.launch.register(cmd)
	cmd.Flags().BoolVar(&c.rerun, "rerun", false, "run a call again even if an equal one has run before")
	return cmd
}

// A chat is a conversation in the terminal.
type chat struct {
	*app
	machine, dataset, thread string
	machineGiven             bool // and not the default
	set                      []string
	launch                   launchFlags
	rerun                    bool

	s        *system
	settings map[string]any // for the next turn
	lines    lineReader
	last     int64  // sequence number of the last event shown
	repair   string // what the model's last failure in this turn said to do
	draft    bool   // the text that was printed last is not the answer if another one follows
}

// runCommand has the message of the arguments answered; without arguments it reads lines.
func (c *chat) runCommand(cmd *cobra.Command, args []string) error {
	message := strings.Join(args, " ")
	if len(args) > 0 && strings.TrimSpace(message) == "" {
		return usageError{errors.New("the message is empty")}
	}
	c.machineGiven = cmd.Flags().Changed("machine")
	return c.run(cmd.Context(), message)
}

func (c *chat) run(ctx context.Context, message string) (err error) {
	if c.thread != "" {
		if err := c.needState(); err != nil {
			return err
		}
	}
	if err := c.cfg.requireData(); err != nil {
		return err
	}
	if c.s, err = c.openSystem(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.s.close()) }()
	if c.settings, err = c.launchSettings(ctx); err != nil {
		return err
	}
	if c.dataset == "" {
		if all, err := c.s.catalog.List(ctx); err == nil && len(all) == 1 {
			c.dataset = all[0].ID
		}
	} else if _, err := c.s.catalog.Get(ctx, c.dataset); fault.Is(err, fault.DatasetNotFound) {
		return err // before a thread is opened
	}
	c.lines = newLineReader(c.in, c.errw)
	if c.thread == "" {
		if m, err := c.s.machines.Get(c.machine); err == nil {
			for _, f := range c.s.models.unreadyReason(m) {
				fmt.Fprintf(c.errw, "The machine %s is not complete: %s. %s\n", oneLine(m.Name), oneLine(strings.TrimSuffix(f.Message, ".")), oneLine(f.Suggestion))
			}
		}
		if message != "" {
			return c.answerOne(ctx, message)
		}
		if c.thread, err = c.s.engine.Open(ctx, c.newOpening()); err != nil {
			return err
		}
		c.settings = nil // the thread has them
	}
	v, err := c.s.engine.View(ctx, c.thread)
	if err != nil {
		return err
	}
	if c.machineGiven && c.machine != v.Thread.Machine {
		return usageError{fmt.Errorf("thread %s runs the machine %s, not %s; leave --thread out to open a thread of another machine", c.thread, v.Thread.Machine, c.machine)}
	}
	c.machine, c.last = v.Thread.Machine, v.Thread.Seq
	if _, err := c.finishDeadTurn(ctx); err != nil {
		return err
	}
	if message != "" {
		return c.answerOne(ctx, message)
	}
	return c.answerLines(ctx)
}

// launchSettings returns the settings that the flags ask for: of the machine of a new
// thread, or of the one that the thread runs.
func (c *chat) launchSettings(ctx context.Context) (map[string]any, error) {
	name := c.machine
	if c.thread != "" {
		t, err := c.s.store.Thread(ctx, c.thread)
		if err != nil {
			return parseSettings(c.set) // the thread's own error is told when it is opened
		}
		name = t.Machine
	}
	m, err := c.s.machines.Get(name)
	if err != nil {
		return parseSettings(c.set)
	}
	return c.launch.settings(m, c.set)
}

// newOpening describes the thread that the flags ask for.
func (c *chat) newOpening() engine.Opening {
	return engine.Opening{Machine: c.machine, Owner: c.cfg.Owner, Dataset: c.dataset, Settings: c.settings}
}

// newInput returns the input of a line.
func (c *chat) newInput(line string) engine.Input {
	return engine.Input{User: c.cfg.Owner, Text: line, Dataset: c.dataset, Rerun: c.rerun}
}

// answerOne sends one message and prints the answer.
func (c *chat) answerOne(ctx context.Context, message string) error {
	if err := c.runTurn(ctx, c.newInput(message)); err != nil {
		return err
	}
	if !c.json && c.cfg.State != "" {
		fmt.Fprintf(c.errw, "[thread %s: go on with %s]\n", c.thread, c.nextCommand())
	}
	return c.answerCards(ctx, false)
}

// answerLines sends each line as a message until the input ends.
func (c *chat) answerLines(ctx context.Context) error {
	c.lines.keepOnInterrupt()
	if isTerminal(c.in) {
		if offer := c.s.models.localOffer(ctx); offer != "" {
			fmt.Fprintln(c.errw, offer)
		}
		fmt.Fprintf(c.errw, "%s, dataset %s. /help lists commands, Ctrl-D ends.\n", oneLine(c.machine), oneLine(textOrNone(c.dataset)))
	}
	failed := exitDone // how a message of a script failed; a person at a terminal has seen it
	for {
		if err := c.answerCards(ctx, true); err != nil {
			return err
		}
		line, ok := c.readLine("> ")
		if !ok {
			if c.code == exitDone {
				c.code = failed
			}
			return nil
		}
		in := c.newInput(line)
		if strings.HasPrefix(line, "/") {
			cmd, done := c.runSlashCommand(ctx, line)
			if done {
				continue
			}
			in = engine.Input{User: c.cfg.Owner, Command: cmd}
		}
		if err := c.runTurn(ctx, in); err != nil {
			if ctx.Err() != nil {
				return err
			}
			code := c.printFailure(err)
			c.code = exitDone
			if !isTerminal(c.in) && failed == exitDone {
				failed = code
			}
		}
		if c.code == exitNeedsAnswer || c.code == exitDeclined {
			c.code = exitDone // the conversation goes on
		}
	}
}

func textOrNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func (c *chat) readLine(prompt string) (string, bool) {
	for {
		line, ok := c.lines.readLine(prompt)
		if !ok {
			return "", false
		}
		if line = strings.TrimSpace(line); line != "" {
			return line, true
		}
	}
}

// runSlashCommand handles the chat's own commands; those of the machine are handed on.
func (c *chat) runSlashCommand(ctx context.Context, line string) (*engine.Command, bool) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	switch name {
	case "dataset":
		id := strings.TrimSpace(rest)
		if id != "" {
			if _, err := c.s.catalog.Get(ctx, id); fault.Is(err, fault.DatasetNotFound) {
				c.printFailure(err)
				c.code = exitDone
				return nil, true
			}
		}
		c.dataset = id
		fmt.Fprintf(c.errw, "dataset %s\n", oneLine(textOrNone(c.dataset)))
		return nil, true
	case "help":
		fmt.Fprintln(c.errw, "/dataset ID   ask about another dataset\n/thread       show the thread's id\n/help         this list")
		if v, err := c.s.engine.View(ctx, c.thread); err == nil {
			for _, cmd := range v.Commands {
				fmt.Fprintf(c.errw, "/%-12s %s %s\n", oneLine(cmd.Name), oneLine(cmd.Label), oneLine(cmd.Why))
			}
		}
		return nil, true
	case "thread":
		fmt.Fprintln(c.errw, c.thread)
		return nil, true
	}
	return &engine.Command{Name: name}, false
}

func parseSettings(list []string) (map[string]any, error) {
	out := map[string]any{}
	for _, item := range list {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			return nil, usageError{fmt.Errorf("--set wants name=value, not %q", item)}
		}
		var v any
		if json.Unmarshal([]byte(value), &v) != nil {
			v = value
		}
		out[name] = v
	}
	return out, nil
}

// runTurn sends an input and prints what happens until the turn ends or waits.
func (c *chat) runTurn(ctx context.Context, in engine.Input) error {
	run, err := c.send(ctx, in)
	if err != nil {
		return err
	}
	return c.followOwn(ctx, run)
}

// followOwn prints what happens in a run of this process until it ends or waits. An interrupt
// stops the turn and not the program.
func (c *chat) followOwn(ctx context.Context, run string) error {
	follow, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	stopped := make(chan error, 1)
	unhook := context.AfterFunc(follow, func() { stopped <- c.s.engine.Stop(context.WithoutCancel(ctx), c.thread) })
	err := c.followRun(ctx, run)
	if !unhook() {
		err = errors.Join(err, <-stopped)
	}
	return err
}

// send hands over an input, with the settings that were given for it: to the thread, or to
// a new one.
func (c *chat) send(ctx context.Context, in engine.Input) (run string, err error) {
	if c.thread == "" {
		c.thread, run, err = c.s.engine.Start(ctx, c.newOpening(), in)
	} else {
		in.Settings = c.settings
		err = c.waitForLease(ctx, func() error { run, err = c.s.engine.Send(ctx, c.thread, in); return err }, c.finishDeadTurn)
	}
	if err != nil {
		return run, err
	}
	c.settings = nil
	if row, err := c.s.store.Run(ctx, run); err == nil && row.First > 0 {
		c.last = max(c.last, row.First-1) // what other processes did meanwhile is theirs to show
	}
	return run, nil
}

// followRun prints what happens until the thread rests.
func (c *chat) followRun(ctx context.Context, run string) error {
	var coming strings.Builder // the text that is being streamed
	thinking := false          // the reply that is being streamed has thoughts
	printed := ""              // the last text that was streamed whole
	var figures *event.FiguresTraced
	c.repair, c.draft = "", false
	for e, err := range c.s.engine.Follow(ctx, c.thread, c.last) {
		if err != nil {
			return err
		}
		if e.Seq > 0 {
			c.last = e.Seq
		}
		switch b := e.Body.(type) {
		case event.Thought:
			if !c.json && !thinking {
				fmt.Fprintln(c.errw, "· thinking ...")
			}
			thinking = true
		case event.Token:
			if !c.json {
				c.printDraftNote()
				fmt.Fprint(c.out, printable(b.Text))
			}
			coming.WriteString(b.Text)
		case event.ModelReplied:
			if coming.Len() > 0 && !c.json {
				fmt.Fprintln(c.out)
			}
			thinking = false
			printed = coming.String()
			coming.Reset()
		case event.StateEntered:
			c.draft = c.draft || b.Cause == machine.OnFinal && printed != ""
		case event.CardRaised:
			return nil
		case event.FiguresTraced:
			figures = &b
		case event.TurnEnded:
			if b.Run != run { // a run of a process that died ends before this one begins
				continue
			}
			err := c.printEnd(ctx, run, b, printed)
			if !c.json {
				c.printFigures(figures)
			}
			return err
		default:
			if !c.json {
				c.printCall(b)
			}
		}
	}
	return ctx.Err()
}

// printCall prints a tool call as one line, and its result as a table.
func (c *chat) printCall(b event.Body) {
	switch e := b.(type) {
	case event.ToolStarted:
		fmt.Fprintf(c.errw, "· %s %s\n", oneLine(e.Tool), cutText(oneLine(string(shownArgs(e))), 150))
	case event.ToolReturned:
		if e.Duplicate != "" {
			fmt.Fprintf(c.errw, "· %s: the same as before (%s)\n", oneLine(e.Tool), e.Reason)
		}
		if e.Person.All || len(e.Person.Fields) > 0 {
			c.printResult(engine.VisibleFields(e.Result.JSON, e.Person))
		}
	case event.ToolFailed:
		var before struct{ Stdout string } // what code printed before it failed
		if json.Unmarshal(e.Details.JSON, &before) == nil && before.Stdout != "" {
			fmt.Fprintln(c.out, printable(before.Stdout))
		}
		fmt.Fprintf(c.errw, "· %s failed: %s (%s)\n", oneLine(e.Tool), oneLine(e.Message), e.Code)
	case event.ToolRefused:
		fmt.Fprintf(c.errw, "· %s refused: %s (%s)\n", oneLine(e.Tool), oneLine(e.Message), e.Code)
	case event.ModelFailed:
		c.repair = e.Suggestion
		fmt.Fprintf(c.errw, "· the model failed: %s (%s)\n", oneLine(e.Message), e.Code)
	case event.ArtifactMade:
		fmt.Fprintf(c.errw, "· %s %s (%s, %d bytes)\n", e.Type, oneLine(e.Name), e.ID, e.Bytes)
	}
}

func shownArgs(e event.ToolStarted) json.RawMessage {
	if e.Shown.JSON != nil {
		return e.Shown.JSON
	}
	return e.Args.JSON
}

// maxShown bounds the rows of a table in the terminal.
const maxShown = 40

// printResult prints the part of a tool's result that a person may see.
func (c *chat) printResult(raw json.RawMessage) {
	var r struct {
		Columns  []string `json:"columns"`
		Rows     [][]any  `json:"rows"`
		RowCount int      `json:"row_count"`
		Total    int      `json:"total_rows"`
		AtLeast  bool     `json:"at_least"`
		Limited  bool     `json:"limited"`
		Stdout   string   `json:"stdout"`
		// Inner is a table inside the result, as steps give it.
		Inner json.RawMessage `json:"result"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return
	}
	if r.Columns == nil && len(r.Inner) > 0 {
		c.printResult(r.Inner)
		return
	}
	if r.Stdout != "" {
		fmt.Fprintln(c.out, printable(r.Stdout))
	}
	if len(r.Columns) == 0 {
		return
	}
	rows := make([][]string, min(len(r.Rows), maxShown))
	for i := range rows {
		for _, v := range r.Rows[i] {
			rows[i] = append(rows[i], cellText(v))
		}
	}
	writeTable(c.out, r.Columns, rows, terminalWidth(c.out))
	fmt.Fprintf(c.errw, "(%s)\n", schema.RowsShown(len(rows), len(r.Rows), max(r.RowCount, r.Total), r.Limited && r.Total == 0 || r.AtLeast))
}
