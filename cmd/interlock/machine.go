package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/engine"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
	"interlock/machines"
)

func (a *app) machineCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "machine", Short: "List, check, draw, preview and compare machines"}
	var format string
	graph := &cobra.Command{
		Use: "graph NAME|DIR", Short: "Draw a machine as Mermaid or SVG", Args: cobra.ExactArgs(1),
		Example: "  interlock machine graph reconcile --format svg > reconcile.svg",
		RunE:    func(_ *cobra.Command, args []string) error { return a.machineGraph(args[0], format) },
	}
	graph.Flags().StringVar(&format, "format", "mermaid", "mermaid or svg")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the machines, and those that did not load", Args: cobra.NoArgs,
			Example: "  interlock machine list --machines ./machines",
			RunE:    func(*cobra.Command, []string) error { return a.machineList() },
		},
		&cobra.Command{
			Use: "check [FILE|DIR|NAME...]", Short: "Check and prove definitions and report every finding; without a name all of them",
			Example: "  interlock machine check\n  interlock machine check ./machines/mine/machine.yaml\n  interlock machine check analyst",
			RunE:    func(_ *cobra.Command, args []string) error { return a.machineCheck(args) },
		},
		graph,
		a.machinePreviewCommand(),
		&cobra.Command{
			Use: "settings NAME|DIR", Short: "List the settings of a machine: types, bounds and defaults", Args: cobra.ExactArgs(1),
			Example: "  interlock machine settings assistant",
			RunE:    func(_ *cobra.Command, args []string) error { return a.machineSettings(args[0]) },
		},
		&cobra.Command{
			Use: "diff OLD NEW", Short: "Show what changed between two versions, and which threads could not continue", Args: cobra.ExactArgs(2),
			Long: "A version is a machine's name, its folder, or the beginning of the hash of a present definition, or\n" +
				"of one that a thread has or had: these are kept in the log after the machine has changed.",
			Example: "  interlock machine diff ./machines/mine@old ./machines/mine\n  interlock machine diff 1a2b3c4d5e6f analyst",
			RunE:    func(cmd *cobra.Command, args []string) error { return a.machineDiff(cmd, args[0], args[1]) },
		},
		&cobra.Command{
			Use: "schema", Short: "Print the JSON Schema of the format, for editors", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				_, err := a.out.Write(machine.Schema())
				return err
			},
		},
	)
	return cmd
}

// library loads the machines without opening the rest of the system.
func (a *app) library() (*machine.Library, machine.ToolTypes, error) {
	types, err := toolTypes(tool.NewSet(nil, toolbox.Tools(toolbox.Config{})...))
	if err != nil {
		return nil, nil, err
	}
	return machine.Open(machine.LibraryConfig{Shipped: machines.All(), Folders: a.cfg.Machines, Tools: types}), types, nil
}

// machineRow is one machine in a listing.
type machineRow struct {
	Name    string         `json:"name"`
	Title   string         `json:"title"`
	States  int            `json:"states"`
	Version string         `json:"version"`
	Unready []*fault.Fault `json:"unready,omitempty"` // why it cannot do all of its work here
	Broken  int            `json:"findings,omitempty"`
	Dir     string         `json:"dir,omitempty"`
}

func (a *app) machineList() error {
	lib, _, err := a.library()
	if err != nil {
		return err
	}
	// The models are only looked at, never asked.
	configured := &models{base: a.cfg.models(llm.NewOffline(nil)), byName: map[string]llm.Model{}}
	var list []machineRow
	var rows [][]string
	for _, m := range lib.List() {
		r := machineRow{Name: m.Name, Title: m.Title, States: len(m.States), Version: m.Hash, Unready: configured.unreadyReason(m)}
		list = append(list, r)
		note := "complete"
		if len(r.Unready) > 0 {
			note = "not complete: " + joinReasons(r.Unready)
		}
		rows = append(rows, []string{r.Name, r.Title, fmt.Sprint(r.States), r.Version[:12], note})
	}
	for _, r := range lib.Broken() {
		list = append(list, machineRow{Name: r.Name, Broken: len(r.Findings), Dir: r.Dir})
		rows = append(rows, []string{r.Name, "did not load", "", "", fmt.Sprintf("%d findings: interlock machine check %s", len(r.Findings), r.Name)})
	}
	a.printRows(list, []string{"machine", "what it does", "states", "version", "state"}, rows)
	return nil
}

// A checkResult is the outcome of `machine check` for one definition.
type checkResult struct {
	Machine  string           `json:"machine"`
	OK       bool             `json:"ok"`
	Findings machine.Findings `json:"findings"`
}

func (a *app) machineCheck(args []string) error {
	lib, types, err := a.library()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		for _, m := range lib.List() {
			args = append(args, m.Name)
		}
		for _, r := range lib.Broken() {
			args = append(args, r.Name)
		}
	}
	var all []checkResult
	failed := 0
	for _, arg := range args {
		c := checkResult{Machine: arg, Findings: machine.Findings{}}
		if m, err := lib.Get(arg); err == nil {
			c.Findings = append(c.Findings, m.Check(types)...)
		} else if i := slices.IndexFunc(lib.Broken(), func(r machine.Report) bool { return r.Name == arg }); i >= 0 {
			c.Findings = append(c.Findings, lib.Broken()[i].Findings...)
		} else {
			dir, err := machineDir(arg)
			if err != nil {
				return err
			}
			_, found, err := machine.ExamineFS(os.DirFS(dir), types)
			if err != nil {
				return fault.Wrap(err, fault.MachineInvalid, "%s: %v", arg, err)
			}
			c.Findings = append(c.Findings, found...)
		}
		c.OK = len(c.Findings.Errors()) == 0
		if !c.OK {
			failed++
		}
		all = append(all, c)
	}
	if failed > 0 {
		a.code = exitFailed
	}
	if a.json {
		a.printJSON(all)
		return nil
	}
	for _, c := range all {
		if len(c.Findings) == 0 {
			fmt.Fprintf(a.out, "%s: proved, no finding\n", oneLine(c.Machine))
			continue
		}
		fmt.Fprintf(a.out, "%s: %d findings\n", oneLine(c.Machine), len(c.Findings))
		for _, f := range c.Findings {
			fmt.Fprintf(a.out, "%s\n", printable(f.String()))
		}
	}
	return nil
}

// machineDir accepts a definition's folder or its file.
func machineDir(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fault.New(fault.MachineNotFound, "there is no machine, file or folder %q", path)
	}
	if info.IsDir() {
		return path, nil
	}
	return filepath.Dir(path), nil
}

// findMachine returns a machine by name or from a folder.
func (a *app) findMachine(arg string) (*machine.Machine, error) {
	lib, _, err := a.library()
	if err != nil {
		return nil, err
	}
	m, err := lib.Get(arg)
	if err == nil {
		return m, nil
	}
	dir, derr := machineDir(arg)
	if derr != nil {
		return nil, err
	}
	return machine.Load(os.DirFS(dir))
}

func (a *app) machineGraph(arg, format string) error {
	m, err := a.findMachine(arg)
	if err != nil {
		return err
	}
	switch format {
	case "mermaid":
		_, err = fmt.Fprint(a.out, m.Mermaid())
	case "svg":
		var svg string
		if svg, err = m.SVG(); err == nil {
			_, err = fmt.Fprint(a.out, svg)
		}
	default:
		err = usageError{fmt.Errorf("--format is mermaid or svg, not %q", format)}
	}
	return err
}

// liveThread is a thread that a new version would break.
type liveThread struct {
	Thread string   `json:"thread"`
	State  string   `json:"state"`
	Why    []string `json:"why"`
}

func (a *app) machineDiff(cmd *cobra.Command, oldArg, newArg string) error {
	ctx := cmd.Context()
	older, err := a.findVersion(ctx, oldArg)
	if err != nil {
		return err
	}
	newer, err := a.findVersion(ctx, newArg)
	if err != nil {
		return err
	}
	changes := machine.Diff(older, newer)
	if a.needState() != nil { // no threads: nothing breaks
		return a.showDiff(changes, []liveThread{})
	}
	s, err := a.openSystem(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	threads, err := s.store.Threads(ctx, store.Query{Machine: newer.Name, Limit: 100_000})
	if err != nil {
		return err
	}
	broken := []liveThread{}
	for _, t := range threads {
		if t.Version != older.Hash {
			continue
		}
		v, err := s.engine.View(ctx, t.ID)
		if err != nil {
			return err
		}
		if why := engine.MigrationProblems(older, newer, v); len(why) > 0 {
			broken = append(broken, liveThread{t.ID, t.State, why})
		}
	}
	return a.showDiff(changes, broken)
}

func (a *app) showDiff(changes []machine.Difference, broken []liveThread) error {
	if a.json {
		a.printJSON(map[string]any{"changes": changes, "broken_threads": broken})
		return nil
	}
	if len(changes) == 0 {
		fmt.Fprintln(a.out, "nothing changed")
	}
	for _, c := range changes {
		fmt.Fprintln(a.out, c)
	}
	for _, t := range broken {
		fmt.Fprintf(a.out, "thread %s in %s would break: %s\n", t.Thread, t.State, oneLine(strings.Join(t.Why, "; ")))
	}
	return nil
}
