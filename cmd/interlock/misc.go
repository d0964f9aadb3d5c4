package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/demo"
	"interlock/internal/fault"
)

func (a *app) statePath(name string) string { return filepath.Join(a.cfg.State, name) }

// version is that of the module, or the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return strings.Trim(info.Main.Version, "()")
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			if a.json {
				a.printJSON(v)
				return nil
			}
			fmt.Fprintf(a.out, "interlock %s (%s, %s)\n", v["version"], v["go"], v["platform"])
			return nil
		},
	}
}

func (a *app) configCommand() *cobra.Command {
	return &cobra.Command{
		Use: "config", Short: "Show every setting, its value and where it comes from", Args: cobra.NoArgs,
		Long: "A setting has its default, which the settings file overrides, then the environment\n" +
			"(INTERLOCK_NAME), then its flag. API keys are read from OPENAI_API_KEY and ANTHROPIC_API_KEY only.",
		RunE: func(*cobra.Command, []string) error {
			type row struct {
				Name  string `json:"name"`
				Value any    `json:"value"`
				From  string `json:"from"`
				Env   string `json:"environment"`
				Help  string `json:"help"`
			}
			var list []row
			var rows [][]string
			for _, s := range a.cfg.settings() {
				from := a.cfg.from[s.name]
				list = append(list, row{s.name, s.value.Interface(), from, s.env, s.help})
				rows = append(rows, []string{s.name, fmt.Sprint(s.value.Interface()), from, s.help})
			}
			a.printRows(list, []string{"setting", "value", "from", "what it is"}, rows)
			return nil
		},
	}
}

func (a *app) demoCommand() *cobra.Command {
	var out string
	var seed uint64
	cmd := &cobra.Command{
		Use: "demo", Short: "Create the demo datasets", Args: cobra.NoArgs, Example: "  interlock demo --out ./demo",
		RunE: func(*cobra.Command, []string) error {
			if _, err := os.Stat(out); err == nil {
				return fault.New(fault.BadRequest, "%s exists already", out).Suggest("Choose another folder with --out.")
			}
			sum, err := demo.Write(out, demo.Options{Seed: seed})
			if err != nil {
				return err
			}
			if a.json {
				a.printJSON(sum)
				return nil
			}
			fmt.Fprintf(a.out, "The demo datasets are in %s.\n", out)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "demo", "the folder to create")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "the same seed gives the same files")
	return cmd
}
