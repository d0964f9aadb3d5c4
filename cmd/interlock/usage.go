package main

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wrongCount matches what cobra says of a wrong number of arguments.
var wrongCount = regexp.MustCompile(`arg\(s\), (?:only )?received (\d+)$`)

// notTaken matches what cobra says of an argument of a command that takes none.
var notTaken = regexp.MustCompile(`^unknown command ("(?:[^"\\]|\\.)*") for "`)

// plainUsage tells a wrong use of the command line in words of ours.
func plainUsage(cmd *cobra.Command, err error) error {
	text := err.Error()
	if m := wrongCount.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("wrong number of arguments (%s); it is used as: %s", m[1], cmd.UseLine())
	}
	if m := notTaken.FindStringSubmatch(text); m != nil && !cmd.HasSubCommands() {
		return fmt.Errorf("%s takes no argument, and %s was given", cmd.CommandPath(), m[1])
	}
	return err
}

// plainFlagError tells a wrong flag in words of ours: the nearest flag for one that does not
// exist, what is wanted for a value that does not fit.
func plainFlagError(cmd *cobra.Command, err error) error {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return unknownFlag(cmd, err)
	}
	want := map[string]string{
		"int": "a whole number", "int64": "a whole number", "uint": "a whole number from 0 on", "uint64": "a whole number from 0 on",
		"float64": "a number", "bool": "true or false", "duration": "a duration such as 30s or 5m",
	}[wrong.GetFlag().Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s wants %s, not %q", wrong.GetFlag().Name, want, wrong.GetValue())
}
