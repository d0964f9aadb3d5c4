package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/fault"
)

// missingData returns the data folders of the settings that do not exist.
func (c *config) missingData() []string {
	var missing []string
	for _, path := range c.Data {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			missing = append(missing, path)
		}
	}
	return missing
}

// requireData refuses a command that needs data where no data folder of the settings
// exists. Where some of them exist the command can work, and warnMissingData names the others.
func (c *config) requireData() error {
	missing := c.missingData()
	if len(missing) == 0 || len(missing) < len(c.Data) {
		return nil
	}
	return c.missingFault(missing)
}

// missingFault names the folders that do not exist, where the setting comes from, and
// the folder that was probably meant.
func (c *config) missingFault(missing []string) *fault.Fault {
	message := fmt.Sprintf("the data folder %s does not exist", missing[0])
	if len(missing) > 1 {
		message = fmt.Sprintf("the data folders %s do not exist", strings.Join(missing, ", "))
	}
	fix := "Correct " + cmp.Or(c.from["data"], "--data")
	if near := c.nearestFolder(missing[0]); near != "" {
		fix += ": the nearest folder is " + near
	}
	return fault.New(fault.BadSetting, "%s", message).Suggest("%s.", fix)
}

// nearestFolder returns the folder beside a missing one whose name is most like its own, ""
// if none is like it. The state folder is never data.
func (c *config) nearestFolder(path string) string {
	state, _ := filepath.Abs(c.State)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		beside, _ := filepath.Abs(filepath.Join(filepath.Dir(path), e.Name()))
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && beside != state {
			names = append(names, e.Name())
		}
	}
	near := fault.Similar(filepath.Base(path), names)
	if near == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(path), near)
}

// warnMissingData prints which data folders do not exist, for a command that works
// without them.
func (a *app) warnMissingData() {
	if missing := a.cfg.missingData(); len(missing) > 0 {
		f := a.cfg.missingFault(missing)
		fmt.Fprintf(a.errw, "%s%s. %s\n", strings.ToUpper(f.Message[:1]), f.Message[1:], f.Suggestion)
	}
}
