package source_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/source"
	"interlock/internal/source/sourcetest"
)

// Only a role that can do nothing but read may run statements of others, by itself and by
// every role that it could become. The advice in the refusal makes such a role.
func TestRemoteRights(t *testing.T) {
	t.Parallel()
	server := sourcetest.Postgres(t)
	as := func(role string) source.Config {
		return source.Config{URL: fmt.Sprintf("postgres:///postgres?host=%s&user=%s", server.Socket, role), Schema: "Sales 1"}
	}
	exec := func(statements ...string) { t.Helper(); execPostgres(t, as("owner").URL, statements...) }
	exec(`CREATE SCHEMA "Sales 1"`, `CREATE TABLE "Sales 1".orders (id int)`, `CREATE TABLE public.notes (id int)`)
	reader := func(name string, more ...string) {
		t.Helper()
		exec(append([]string{"CREATE ROLE " + name + " LOGIN", `GRANT USAGE ON SCHEMA "Sales 1" TO ` + name, `GRANT SELECT ON ALL TABLES IN SCHEMA "Sales 1" TO ` + name}, more...)...)
	}
	refused := func(role, why string) error {
		t.Helper()
		remote, err := source.Connect(t.Context(), as(role))
		if err == nil {
			remote.Close()
		}
		if !fault.Is(err, fault.SourceUnreadable) || !strings.Contains(fault.From(err).Message, why) {
			t.Errorf("%s: %v, want a refusal that says %q", role, err, why)
		}
		allowed := as(role)
		allowed.AllowOwner = true
		if remote, err = source.Connect(t.Context(), allowed); err != nil {
			t.Errorf("%s, allowed: %v", role, err)
		} else {
			remote.Close()
		}
		return err
	}
	refused("owner", "is a superuser")
	reader("maker", "ALTER ROLE maker CREATEROLE")
	refused("maker", "can make roles")
	reader("bypass", "ALTER ROLE bypass BYPASSRLS")
	refused("bypass", "passes row security")
	reader("replica", "ALTER ROLE replica REPLICATION")
	refused("replica", "can replicate the server")
	for _, group := range strings.Fields("pg_read_server_files pg_write_server_files pg_execute_server_program pg_signal_backend pg_write_all_data pg_monitor") {
		reader("in_"+strings.TrimPrefix(group, "pg_"), "GRANT "+group+" TO in_"+strings.TrimPrefix(group, "pg_"))
		refused("in_"+strings.TrimPrefix(group, "pg_"), "is a member of "+group)
	}
	reader("writer", `GRANT INSERT ON "Sales 1".orders TO writer`)
	refused("writer", "may write the table orders")
	reader("heir", "CREATE ROLE clerk NOLOGIN", `GRANT UPDATE ON "Sales 1".orders TO clerk`, "ALTER ROLE heir NOINHERIT", "GRANT clerk TO heir")
	refused("heir", "may become clerk, which may write the table orders")
	reader("schema_owner", `ALTER SCHEMA "Sales 1" OWNER TO schema_owner`)
	refused("schema_owner", "owns the schema")
	reader("table_owner", `ALTER TABLE "Sales 1".orders OWNER TO table_owner`)
	refused("table_owner", "owns the table orders")
	reader("child", "ALTER ROLE child NOINHERIT", "GRANT table_owner TO child")
	refused("child", "may become table_owner, which owns the table orders")

	reader("cells", `GRANT UPDATE (id) ON "Sales 1".orders TO cells`)
	refused("cells", "may write the table orders")
	reader("neighbour", "GRANT INSERT ON public.notes TO neighbour")
	refused("neighbour", "may write the table public.notes")
	reader("filereader", "GRANT EXECUTE ON FUNCTION pg_read_file(text) TO filereader")
	refused("filereader", "may call pg_read_file")
	reader("hashes", "GRANT SELECT ON pg_authid TO hashes")
	refused("hashes", "may read the passwords of roles")
	reader("founder", "ALTER ROLE founder CREATEDB")
	refused("founder", "can make databases")

	// To read what is outside of the dataset's schema does not count.
	reader("elsewhere", "GRANT SELECT ON public.notes TO elsewhere")
	remote, err := source.Connect(t.Context(), as("elsewhere"))
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	count := unchecked(`SELECT count(*) FROM "Sales 1".orders`)
	if _, err := remote.Run(t.Context(), count, source.Limits{}); err != nil {
		t.Error(err)
	}
	// Rights that come later are noticed by the next session.
	exec("ALTER ROLE elsewhere CREATEROLE", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'elsewhere'")
	_, err = remote.Run(t.Context(), count, source.Limits{})
	for try := 0; try < 5 && !strings.Contains(fmt.Sprint(err), "can make roles"); try++ { // sessions that were ended are found one by one
		_, err = remote.Run(t.Context(), count, source.Limits{})
	}
	if !strings.Contains(fmt.Sprint(err), "can make roles") {
		t.Errorf("a role that was raised: %v", err)
	}

	_, err = source.Connect(t.Context(), as("owner"))
	details, _ := json.Marshal(fault.From(err).Details)
	var advice struct{ Statements []string }
	if err := json.Unmarshal(details, &advice); err != nil || len(advice.Statements) != 3 || !strings.Contains(fault.From(err).Suggestion+string(details), "Sales 1") {
		t.Fatalf("the advice: %s, %v", details, err)
	}
	exec(advice.Statements...)
	made, err := source.Connect(t.Context(), as("interlock_reader"))
	if err != nil {
		t.Fatalf("the role of the advice: %v", err)
	}
	defer made.Close()
	if got, err := made.Run(t.Context(), count, source.Limits{}); err != nil || string(got.Rows) != "[[0]]" {
		t.Errorf("%s, %v", got.Rows, err)
	}
}

// A row that is over the limit alone is refused before it is in memory, and the next
// statement runs.
func TestRemoteLargeRow(t *testing.T) {
	server := sourcetest.Postgres(t)
	address := fmt.Sprintf("postgres:///postgres?host=%s&user=owner", server.Socket)
	execPostgres(t, address, append([]string{"CREATE TABLE large AS SELECT 1 AS id, repeat('x', 80000000) AS body"}, sourcetest.PostgresReader...)...)
	config := source.Config{URL: strings.Replace(address, "owner", "reader", 1)}
	remote, err := source.Connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	grown := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, sql := range []string{"SELECT repeat('x', 100000000)", "SELECT id, body FROM public.large"} {
		used := grown(func() {
			if _, err := remote.Run(t.Context(), unchecked(sql), source.Limits{Timeout: 2 * time.Minute}); !fault.Is(err, fault.TooLarge) || !strings.Contains(err.Error(), "MB") {
				t.Errorf("%s: %v, want too_large", sql, err)
			}
		})
		if used > 64<<20 {
			t.Errorf("%s: %d MB were allocated", sql, used>>20)
		}
		if got, err := remote.Run(t.Context(), unchecked("SELECT repeat('x', 1000000)"), source.Limits{}); err != nil || got.Count != 1 {
			t.Errorf("after %s: %d rows, %v", sql, got.Count, err)
		}
	}
	config.Table, config.Schema = "large", "public"
	table := open(t, config)
	defer table.Close()
	used := grown(func() {
		for _, err = range table.Stream(t.Context(), nil, schema.Filter{}) {
			if err != nil {
				break
			}
		}
	})
	if !fault.Is(err, fault.TooLarge) || used > 64<<20 {
		t.Errorf("an import of a large row: %v, %d MB were allocated", err, used>>20)
	}
}
