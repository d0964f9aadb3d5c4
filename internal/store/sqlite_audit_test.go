package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"interlock/internal/audit"
	"interlock/internal/event"
	"interlock/internal/store"
)

// Whoever changes the file is found out: entries that were changed, removed, inserted, put in
// another order or cut off, also where the log went on afterwards.
func TestTamperedAudit(t *testing.T) {
	const forged = `INSERT INTO audit (seq, body, hash) VALUES (7, '{"seq":7,"time":"2026-01-01T00:00:00Z","user":"ann","action":"x"}', 'abc')`
	for name, tt := range map[string]struct {
		sql   string
		after bool // one more entry is recorded afterwards
		want  string
	}{
		"nothing":              {``, true, ""},
		"changed":              {`UPDATE audit SET body = replace(body, 'ann', 'bob') WHERE seq = 3`, true, "3: it was changed"},
		"hash changed":         {`UPDATE audit SET hash = upper(hash) WHERE seq = 3`, false, "3: it was changed"},
		"removed":              {`DELETE FROM audit WHERE seq = 3`, true, "4: the entry 3 before it was removed"},
		"first removed":        {`DELETE FROM audit WHERE seq = 1`, false, "2: the entry 1 before it was removed"},
		"inserted":             {forged, false, "7: it was changed"},
		"reordered":            {`UPDATE audit SET body = (SELECT b.body FROM audit b WHERE b.seq = 7 - audit.seq) WHERE seq IN (3, 4)`, false, "3: it was the entry 4"},
		"cut":                  {`DELETE FROM audit WHERE seq > 4`, false, "6: the log ends with the entry 4"},
		"cut, and gone on":     {`DELETE FROM audit WHERE seq > 4`, true, "7: the entries 5 to 6 before it were removed"},
		"cut with its counter": {`DELETE FROM audit WHERE seq > 4; UPDATE sqlite_sequence SET seq = 4 WHERE name = 'audit'`, false, "4: the run r6 is in the log of threads"},
		"emptied":              {`DELETE FROM audit`, false, "6: the log ends with the entry 0"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.db")
			s := open(t, path)
			for i := range 6 {
				b := small(fmt.Sprintf("t%d", i+1), 0)
				run := fmt.Sprintf("r%d", i+1)
				b.Events = b.Events[:1]
				b.Events[0].Time, b.Events[0].Body = time.Now(), event.TurnStarted{Run: run, User: "ann"}
				b.Runs = []store.Run{{ID: run, Thread: b.Thread, Started: time.Now()}}
				if err := s.Append(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), tt.sql); err != nil {
				t.Fatal(err)
			}
			if tt.after {
				if err := s.RecordAction(t.Context(), audit.Entry{Action: "go on"}); err != nil {
					t.Fatal(err)
				}
			}
			report, err := s.VerifyActions(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, f := range report.Findings {
				found = append(found, fmt.Sprintf("%d: %s", f.Seq, f.Problem))
			}
			if all := strings.Join(found, "\n"); report.Intact != (tt.want == "") || !strings.Contains(all, tt.want) {
				t.Errorf("found %q, want %q", all, tt.want)
			}
		})
	}
}
