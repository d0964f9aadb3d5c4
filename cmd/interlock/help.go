package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// usageTemplate shows a command with its own flags. The settings, which every command
// has as flags, stand in a help of their own.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if and .HasParent .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}

"{{.CommandPath}} [command] --help" tells more about a command.{{end}}

Every command has the settings as flags, such as --data, --state and --json:
"interlock help settings" lists them.
`

// settingsTopic is the name under which the help lists the settings.
const settingsTopic = "settings"

// helpCommand shows the help of a command or the settings, and refuses names that are neither.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND | settings]", Short: "Help about any command, or about the settings",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == settingsTopic {
				fmt.Fprintf(cmd.OutOrStdout(), "Flags of every command. Each but --json is also a key of the settings file and, as\n"+
					"INTERLOCK_NAME, a variable of the environment; `interlock config` shows the values.\n\n%s", root.PersistentFlags().FlagUsagesWrapped(100))
				return nil
			}
			found, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = unknownCommand(found, rest[0])
			}
			if err != nil {
				return usageError{err}
			}
			return found.Help()
		},
	}
}

// typedText is the text of a flag whose help names another type: config.load parses it,
// as it does the same text from the file and the environment.
type typedText struct{ text, kind string }

func (t *typedText) String() string { return t.text }

// Set implements pflag.Value.
func (t *typedText) Set(text string) error {
	t.text = text
	return nil
}

// Type implements pflag.Value.
func (t *typedText) Type() string { return t.kind }
