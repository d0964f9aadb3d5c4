// Command interlock is a data agent: it serves a page and an HTTP API, chats in
// the terminal, and checks, lists and replays what was done. Every command works on
// the same state folder, with or without a server.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"interlock/internal/document"
	"interlock/internal/fault"
	"interlock/internal/jail"
	"interlock/internal/query"
	"interlock/internal/source"
)

// Exit codes, documented in the help and in docs/machines.md.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitRefused     = 3
	exitNeedsAnswer = 4
	exitLimit       = 5
	exitDeclined    = 6
)

func main() {
	jail.Main()
	query.Main()
	source.Main()
	document.Main()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	code := runMain(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// runMain runs the program and returns its exit code. Tests call it.
func runMain(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	a := &app{in: in, out: out, errw: errw, getenv: os.Getenv}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return a.code
	}
	a.path = cmd.CommandPath()
	if !a.begun {
		err = usageError{plainUsage(cmd, err)}
	}
	return a.printFailure(err)
}

// app is what the commands share.
type app struct {
	in        io.Reader
	out, errw io.Writer
	getenv    func(string) string
	cfg       config
	json      bool
	begun     bool   // the command line was understood
	path      string // the command that failed, whose help is worth reading
	code      int
}

// root lists the commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "interlock",
		Short: "Ask, analyse and reconcile data, with every step of the model governed by a proved machine",
		Long: "Interlock answers questions about data in files and databases. Every step of the\n" +
			"model is governed by a declared state machine that is proved before it runs.\n\n" +
			"Exit codes: 0 success, 1 failure, 2 wrong use, 3 refused by a policy, 4 waits for an answer, 5 limit\n" +
			"reached, 6 declined (there is no answer, and the text says why).",
		Version:       version(),
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			a.begun = true
			if cmd.Annotations[ownInterrupts] == "" {
				ctx, _ := signal.NotifyContext(cmd.Context(), os.Interrupt) // for as long as the process lives
				cmd.SetContext(ctx)
			}
			if err := a.cfg.load(cmd.Flags(), a.getenv); err != nil {
				return err
			}
			return a.recordCommand(cmd, args)
		},
	}
	root.SetVersionTemplate("interlock {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{plainFlagError(cmd, err)} })
	a.cfg.flags(root.PersistentFlags())
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	defer nameUnknown(root)
	root.AddCommand(
		a.serveCommand(), a.chatCommand(), a.askCommand(), a.evalCommand(), a.machineCommand(), a.toolCommand(), a.runCommand(), a.replayCommand(), a.threadCommand(), a.artifactCommand(), a.retentionCommand(), a.auditCommand(),
		a.sourcesCommand(), a.meaningCommand(), a.docsCommand(), a.mcpCommand(), a.queryCommand(), a.reconcileCommand(), a.modelCommand(), a.demoCommand(), a.doctorCommand(), a.configCommand(), a.versionCommand(),
	)
	root.InitDefaultCompletionCmd("completion")
	root.SetHelpCommand(helpCommand(root))
	root.SetUsageTemplate(usageTemplate)
	return root
}

// ownInterrupts marks commands in which an interrupt ends what is under way and not the
// command.
const ownInterrupts = "own interrupts"

// nameUnknown makes commands that only hold others refuse a name that they do not hold,
// with the nearest one.
func nameUnknown(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		nameUnknown(sub)
	}
	if !cmd.HasSubCommands() || cmd.Runnable() {
		return
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return usageError{unknownCommand(cmd, args[0])}
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	err := fmt.Errorf("unknown command %q for %q", name, cmd.CommandPath())
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return err
}

// unknownFlag adds the nearest flag to the error of one that does not exist.
func unknownFlag(cmd *cobra.Command, err error) error {
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := fault.Similar(missing.GetSpecifiedName(), names); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return err
}

// usageError is a wrong use of the command line.
type usageError struct{ error }

// printFailure prints an error with its fix and returns the exit code.
func (a *app) printFailure(err error) int {
	if _, wrong := errors.AsType[usageError](err); wrong {
		fmt.Fprintf(a.errw, "interlock: %s\nSee `%s --help`.\n", printable(err.Error()), cmp.Or(a.path, "interlock"))
		return exitUsage
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		if a.json {
			a.printJSON(f)
		} else {
			fmt.Fprintf(a.errw, "interlock: %s (%s)\n", printable(f.Message), f.Code)
			if f.Suggestion != "" {
				fmt.Fprintf(a.errw, "  %s\n", printable(f.Suggestion))
			}
		}
		if cause := errors.Unwrap(f); cause != nil && f.Code == fault.Internal {
			fmt.Fprintf(a.errw, "  cause: %s\n", printable(cause.Error()))
		}
		return exitCode(f.Code)
	}
	if errors.Is(err, context.Canceled) {
		return exitFailed
	}
	fmt.Fprintf(a.errw, "interlock: %s\n", printable(err.Error()))
	return exitFailed
}

// exitCode maps a code to the exit code that scripts branch on.
func exitCode(code fault.Code) int {
	switch code {
	case "":
		return exitDone
	case fault.SQLPolicy, fault.Forbidden, fault.ToolNotAllowed, fault.FeatureDisabled, fault.PyPolicy, fault.InvalidState:
		return exitRefused
	case fault.LimitIterations, fault.LimitSeconds, fault.LimitTokens, fault.LimitDollars:
		return exitLimit
	case fault.BadSetting, fault.BadRequest:
		return exitUsage
	}
	return exitFailed
}
