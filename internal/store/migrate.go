package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"strconv"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"interlock/internal/fault"
)

// The migrations of the tables: N_name.sql leads from version N-1 to N. The version is in
// the file's header (user_version), so that a migration and its version are stored in one
// transaction, and processes that start at the same time wait for each other.
//
//go:embed migrations/*.sql
var migrations embed.FS

const openAttempts = 20 // while other processes create the same file

// migrate brings the tables of a SQLite file up to date.
func migrate(path string, log *slog.Logger) error {
	steps, err := loadMigrations()
	if err != nil {
		return err
	}
	db, err := openDB(dataSource(path, "journal_mode(WAL)"))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for range openAttempts {
		var from int
		from, err = migrateOnce(db, path, steps)
		if err == nil && from < len(steps) {
			log.Info("Brought the log's tables up to date", "path", path, "from", from, "to", len(steps))
		}
		if resultCode(err) != sqlite3.SQLITE_BUSY {
			break
		}
	}
	return err
}

func migrateOnce(db *sql.DB, path string, steps []string) (from int, err error) {
	ctx := context.Background()
	const version = `PRAGMA user_version`
	if err := db.QueryRowContext(ctx, version).Scan(&from); err != nil {
		return 0, err
	}
	if from == len(steps) {
		return from, nil
	}
	tx, err := db.BeginTx(ctx, nil) // immediate: other processes wait
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if err := tx.QueryRowContext(ctx, version).Scan(&from); err != nil {
		return 0, err
	}
	if from > len(steps) {
		return 0, fault.New(fault.StoreFailed, "the log %s was written by a newer Interlock: its tables have version %d, this one knows %d", path, from, len(steps)).
			Suggest("Use that newer Interlock, or give another path.")
	}
	for i, step := range steps[from:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return 0, fmt.Errorf("step %d of the tables: %w", from+i+1, err)
		}
	}
	if _, err := tx.ExecContext(ctx, version+` = `+strconv.Itoa(len(steps))); err != nil {
		return 0, err
	}
	return from, tx.Commit()
}

// loadMigrations returns the embedded files in the order of their numbers.
func loadMigrations() ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	out := make([]string, len(names))
	for _, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(names) || out[n-1] != "" {
			return nil, fmt.Errorf("%s: the steps are numbered from 1 without gaps", name)
		}
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out[n-1] = string(text)
	}
	return out, nil
}
