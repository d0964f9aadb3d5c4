package store

import (
	"errors"
	"log/slog"
	"strings"

	"interlock/internal/fault"
)

// Config configures a store.
type Config struct {
	// DSN is a path, or a URL whose scheme names the kind of store: "sqlite:PATH".
	DSN string
	// PowerSafe makes every batch survive a loss of power, not only the death of the
	// process. It costs a disk flush per batch.
	PowerSafe bool
	// ReadOnly opens a log that this user cannot write for reading alone. It is for
	// commands that only read.
	ReadOnly bool
	// Log is for the operator. Default: nothing is logged.
	Log *slog.Logger
}

// Open opens the store that the DSN names.
func Open(c Config) (Store, error) {
	scheme, rest, ok := strings.Cut(c.DSN, ":")
	if !ok || len(scheme) == 1 { // a plain path, perhaps with a drive letter
		scheme, rest = "sqlite", c.DSN
	}
	switch scheme {
	case "sqlite", "file":
		path := strings.TrimPrefix(rest, "//")
		s, err := OpenSQLite(SQLiteConfig{Path: path, PowerSafe: c.PowerSafe, Log: c.Log})
		if c.ReadOnly && errors.Is(err, ErrNotWritable) {
			return openSQLiteReadOnly(path)
		}
		return s, err
	default:
		return nil, fault.New(fault.BadSetting, "there is no store of the kind %q", scheme).
			Suggest("Give a path, as in state/interlock.db.")
	}
}
