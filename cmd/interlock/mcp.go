package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"interlock/internal/mcpserver"
	"interlock/internal/server"
)

// mcpCommand serves MCP over standard input and output, and shows the servers that this
// program uses itself.
func (a *app) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the data as MCP tools over standard input and output, for Claude Desktop, IDEs and other hosts", Args: cobra.NoArgs,
		Long: "The host starts this program and speaks MCP with it. `interlock serve` offers the same under /mcp.\n" +
			"Clarifications and approvals are asked of the person behind the host, where it can ask.",
		Example: "  {\"mcpServers\": {\"interlock\": {\"command\": \"interlock\", \"args\": [\"mcp\", \"--data\", \"/path/to/data\"]}}}",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			s, err := a.openSystem(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.close()) }()
			srv, err := mcpserver.New(s.mcpConfig(), a.cfg.Owner)
			if err != nil {
				return err
			}
			err = srv.Run(cmd.Context(), &mcp.IOTransport{Reader: nopReadCloser{a.in}, Writer: nopWriteCloser{a.out}})
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "servers", Short: "Show the MCP servers whose tools machines may use, and how each stands", Args: cobra.NoArgs,
		Example: "  interlock mcp servers --mcp servers.json",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			s, err := a.openSystem(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.close()) }()
			list, err := s.mcp.Status(cmd.Context(), a.cfg.Owner)
			if err != nil {
				return err
			}
			rows := make([][]string, len(list))
			for i, st := range list {
				state := "ok"
				if st.Error != nil {
					state = oneLine(st.Error.Message)
					a.code = exitFailed
				}
				rows[i] = []string{st.Server, fmt.Sprint(st.Tools), state}
			}
			a.printRows(list, []string{"server", "tools", "state"}, rows)
			return nil
		},
	})
	return cmd
}

// mcpConfig says what MCP clients are offered.
func (s *system) mcpConfig() mcpserver.Config {
	return mcpserver.Config{
		Engine: s.engine, Tools: s.tools, Version: version(),
		OwnerOf: func(ctx context.Context, thread string) (string, error) {
			t, err := s.store.Thread(ctx, thread)
			return t.Owner, err
		},
		DirectMachine: "analyst",
		Offers: []mcpserver.Offer{
			{Name: "list_datasets", Tool: "list_datasets"},
			{Name: "get_dataset_schema", Tool: "get_dataset_schema"},
			{Name: "execute_sql", Tool: "execute_sql", Bind: map[string]any{"max_rows": 200}, Logged: true, DatasetArgument: "dataset_id"},
			{Name: "execute_query_plan", Tool: "execute_query_plan", Bind: map[string]any{"max_rows": 200}, Logged: true, DatasetArgument: "dataset_id"},
			{Name: "search_documents", Tool: "document_search", Bind: map[string]any{"min": 0.0, "limit": 8, "before": ""}},
			{Name: "search_tables", Tool: "schema_search", Bind: map[string]any{"min": 0.0, "limit": 8, "before": "", "max_chars": 0}},
		},
		Questions: []mcpserver.Question{
			{Name: "ask", Machine: "pipeline", Description: "Answer a question about a dataset: a query is planned, checked, run and judged. Asks the person back where the question can be read in two ways."},
			{Name: "reconcile", Machine: "reconcile", Description: "Match the rows of two sources: say which two and what belongs together. The person confirms rules and pairs on the way; continue with the thread_id."},
		},
		Datasets: func(ctx context.Context) ([]string, error) {
			list, err := s.catalog.List(ctx)
			ids := make([]string, len(list))
			for i, d := range list {
				ids[i] = d.ID
			}
			return ids, err
		},
		SchemaTool: "get_dataset_schema", SchemaArgument: "dataset_id",
	}
}

// mcpHandlers are the routes of the MCP server for the web server.
func (s *system) mcpHandlers() (map[string]http.Handler, error) {
	h, err := mcpserver.Handler(s.mcpConfig(), server.UserOf)
	return map[string]http.Handler{"/mcp": h}, err
}

// nopReadCloser and nopWriteCloser keep the program's own input and output open.
type (
	nopReadCloser  struct{ io.Reader }
	nopWriteCloser struct{ io.Writer }
)

func (nopReadCloser) Close() error  { return nil }
func (nopWriteCloser) Close() error { return nil }
