package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"interlock/internal/fault"
	"interlock/internal/retrieve"
)

// docsFlags are what the commands about documents share.
type docsFlags struct {
	collection string
	owner      string
	queries    string
	limit      int
}

func (a *app) docsCommand() *cobra.Command {
	var f docsFlags
	var place string
	cmd := &cobra.Command{Use: "docs", Short: "Add, list, search and remove documents"}
	cmd.PersistentFlags().StringVar(&f.collection, "collection", "", "the collection of documents")
	cmd.PersistentFlags().StringVar(&f.owner, "for", "", "the user who may find them; everybody if absent")
	search := &cobra.Command{
		Use: "search [QUESTION]", Short: "Find the passages that answer a question, with their places and relevancy", Args: cobra.MaximumNArgs(1),
		Example: "  interlock docs search --collection handbook 'How long do customers have to send goods back?'\n" +
			"  interlock docs search --collection handbook --queries questions.txt --limit 10 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			questions, err := a.docQuestions(f, args)
			if err != nil {
				return err
			}
			return a.withDocs(func(x *retrieve.Index) error { return a.searchDocs(cmd.Context(), x, f, questions) })
		},
	}
	show := &cobra.Command{
		Use: "show DOCUMENT", Short: "Show the text at a place of a document, as a citation names both", Args: cobra.ExactArgs(1),
		Long:    "Show the text at a place of a document. DOCUMENT is its id, or its file's name where only one document has it.",
		Example: "  interlock docs show returns.md --place 'Returns > Time limits'\n  interlock docs show manual.pdf --place 'page 7'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withDocs(func(x *retrieve.Index) error { return a.showDoc(cmd.Context(), x, f, args[0], place) })
		},
	}
	show.Flags().StringVar(&place, "place", "", "the place that a citation names; the first if absent")
	search.Flags().StringVar(&f.queries, "queries", "", "a file with a question a line; - reads them from the input")
	search.Flags().IntVar(&f.limit, "limit", 10, "how many passages to show")
	cmd.AddCommand(
		&cobra.Command{
			Use: "add PATH", Short: "Add a folder of documents or one document (txt, md, html, pdf, docx, csv); only what has changed is read again", Args: cobra.ExactArgs(1),
			Example: "  interlock docs add ./handbook --collection handbook",
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.withDocs(func(x *retrieve.Index) error { return a.addDocs(cmd.Context(), x, f, args[0]) })
			},
		},
		&cobra.Command{
			Use: "list", Short: "List documents", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return a.withDocs(func(x *retrieve.Index) error { return a.listDocs(cmd.Context(), x, f) })
			},
		},
		&cobra.Command{
			Use: "remove [FILE...]", Short: "Forget documents of a collection: those named, or all", Example: "  interlock docs remove --collection handbook old/prices.pdf",
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.withDocs(func(x *retrieve.Index) error {
					if f.collection != "" {
						if err := x.CheckKnown(cmd.Context(), f.owner, f.collection); err != nil {
							return err
						}
					}
					n, err := x.Remove(cmd.Context(), f.owner, f.collection, "", args...)
					if err != nil {
						return err
					}
					a.printDone(map[string]int{"removed": n}, "removed %s", countOf(n, "document"))
					return nil
				})
			},
		},
		search, show,
	)
	return cmd
}

// openDocuments opens the index of documents and tables of a state folder.
func openDocuments(c config) (*retrieve.Index, error) {
	return retrieve.Open(retrieve.Config{Path: filepath.Join(c.State, "documents.db")})
}

// withDocs opens the index of documents.
func (a *app) withDocs(do func(*retrieve.Index) error) error {
	x, err := openDocuments(a.cfg)
	if err != nil {
		return err
	}
	return errors.Join(do(x), x.Close())
}

func (a *app) addDocs(ctx context.Context, x *retrieve.Index, f docsFlags, path string) error {
	bar := newProgressBar(a.errw, a.json)
	r, err := x.Add(ctx, retrieve.AddRequest{
		Owner: f.owner, Collection: f.collection, Path: path,
		Progress: func(p retrieve.Progress) {
			bar.show(progress{step: p.Stage, done: p.Done, total: p.Total, item: p.File})
		},
	})
	bar.end()
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(r)
		return nil
	}
	unread := 0
	for _, p := range r.Problems {
		if p.Code != "" {
			unread++
		}
		fmt.Fprintf(a.errw, "%s: %s\n", oneLine(p.File), oneLine(p.Message))
		if p.Suggestion != "" {
			fmt.Fprintf(a.errw, "  %s\n", oneLine(p.Suggestion))
		}
	}
	fmt.Fprintf(a.out, "%s: %d added, %d changed, %d unchanged, %d removed", oneLine(f.collection), r.Added, r.Changed, r.Unchanged, r.Removed)
	if unread > 0 {
		fmt.Fprintf(a.out, "; %d of them cannot be read and will not be found", unread)
	}
	fmt.Fprintln(a.out)
	return nil
}

func (a *app) listDocs(ctx context.Context, x *retrieve.Index, f docsFlags) error {
	list, err := x.List(ctx, f.scope())
	if err != nil {
		return err
	}
	rows := make([][]string, len(list))
	for i, d := range list {
		state := countOf(d.Chunks, "passage")
		switch {
		case d.Problem != nil:
			state = d.Problem.Message
		case d.Embedded < d.Chunks:
			state += fmt.Sprintf(", %d found by meaning", d.Embedded)
		}
		rows[i] = []string{d.Collection, d.File, d.Title, state}
	}
	a.printRows(list, []string{"collection", "file", "title", "state"}, rows)
	return nil
}

// showDoc prints what a citation names.
func (a *app) showDoc(ctx context.Context, x *retrieve.Index, f docsFlags, name, place string) error {
	list, err := x.List(ctx, f.scope())
	if err != nil {
		return err
	}
	var ids []string
	for _, d := range list {
		if d.ID == name || d.File == name {
			ids = append(ids, d.ID)
		}
	}
	switch len(ids) {
	case 0:
		ids = []string{name} // one of a thread, or none
	case 1:
	default:
		return fault.New(fault.BadRequest, "%d documents are called %q", len(ids), name).Suggest("Name its collection with --collection, or give its id of `interlock docs list --json`.")
	}
	e, err := x.OpenPlace(ctx, f.owner, ids[0], place)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(e)
		return nil
	}
	fmt.Fprintf(a.out, "%s, %s\n\n%s\n", oneLine(e.Document.File), oneLine(e.Place), printable(e.Content))
	return nil
}

// scope is what the flags name.
func (f docsFlags) scope() retrieve.Scope {
	s := retrieve.Scope{Owner: f.owner}
	if f.collection != "" {
		s.Collections = []string{f.collection}
	}
	return s
}

// docQuestions gives the questions of the command line or of a file.
func (a *app) docQuestions(f docsFlags, args []string) ([]string, error) {
	if (len(args) == 1) == (f.queries != "") {
		return nil, usageError{errors.New("give a question, or a file of them with --queries")}
	}
	if len(args) == 1 {
		return args, nil
	}
	in := a.in
	if f.queries != "-" {
		file, err := os.Open(f.queries)
		if err != nil {
			return nil, usageError{err}
		}
		defer file.Close()
		in = file
	}
	var out []string
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if q := strings.TrimSpace(lines.Text()); q != "" {
			out = append(out, q)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, usageError{fmt.Errorf("reading the questions: %w", err)}
	}
	return out, nil
}

// answeredQuery is a question with what was found.
type answeredQuery struct {
	Query  string           `json:"query"`
	Chunks []retrieve.Chunk `json:"chunks"`
}

// embedWait is how long a search embeds what has no vector yet: passages that changed, or that another program is
// still adding. It is a variable for the test.
var embedWait = 10 * time.Second

// embedForSearch embeds for a moment, and says what is found by its words alone after it.
func (a *app) embedForSearch(ctx context.Context, x *retrieve.Index, f docsFlags) error {
	bar := newProgressBar(a.errw, a.json)
	moment, cancel := context.WithTimeout(ctx, embedWait)
	defer cancel()
	err := x.EmbedDocuments(moment, func(p retrieve.Progress) { bar.show(progress{step: p.Stage, done: p.Done, total: p.Total}) })
	bar.end()
	if err == nil || ctx.Err() != nil || moment.Err() == nil {
		return err
	}
	list, err := x.List(ctx, f.scope())
	if err != nil {
		return err
	}
	waiting := 0
	for _, d := range list {
		waiting += d.Chunks - d.Embedded
	}
	if waiting > 0 {
		fmt.Fprintf(a.errw, "%s found by words alone so far, not by meaning; `interlock docs add` goes on with the rest.\n", countOf(waiting, "passage"))
	}
	return nil
}

func (a *app) searchDocs(ctx context.Context, x *retrieve.Index, f docsFlags, questions []string) error {
	if f.collection != "" {
		if err := x.CheckKnown(ctx, f.owner, f.collection); err != nil {
			return err
		}
		if _, err := x.Refresh(ctx, retrieve.AddRequest{Owner: f.owner, Collection: f.collection, WordsOnly: true}); err != nil {
			return err
		}
		if err := a.embedForSearch(ctx, x, f); err != nil {
			return err
		}
	}
	out := make([]answeredQuery, 0, len(questions))
	for _, q := range questions {
		chunks, err := x.Search(ctx, retrieve.Query{Scope: f.scope(), Text: q, Limit: f.limit})
		if err != nil {
			return err
		}
		out = append(out, answeredQuery{q, chunks})
	}
	if a.json {
		a.printJSON(out)
		return nil
	}
	for _, r := range out {
		if len(out) > 1 {
			fmt.Fprintf(a.out, "%s\n", oneLine(r.Query))
		}
		if len(r.Chunks) == 0 {
			fmt.Fprintln(a.out, "nothing was found")
		} else if readAs := r.Chunks[0].ReadAs; readAs != "" {
			fmt.Fprintf(a.out, "read as: %s\n", oneLine(readAs))
		}
		for _, c := range r.Chunks {
			where := ""
			if f.collection == "" && namesakes(r.Chunks, c) {
				where = " (collection " + oneLine(c.Collection) + ")"
			}
			fmt.Fprintf(a.out, "%.2f  %s, %s%s\n      %s\n", c.Relevancy, oneLine(c.SourceFile), oneLine(c.Place), where, cutText(oneLine(c.Content), 200))
		}
	}
	return nil
}

// namesakes reports whether another document of the same name was found as well.
func namesakes(found []retrieve.Chunk, c retrieve.Chunk) bool {
	return slices.ContainsFunc(found, func(o retrieve.Chunk) bool { return o.SourceFile == c.SourceFile && o.Document != c.Document })
}

// countOf writes a number of things.
func countOf(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
