package recon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"interlock/internal/fault"
	"interlock/internal/query"
)

// A Report is the record of a run: what was matched with what, by which rules, and what
// came of it. With the tables of the run it is the evidence.
type Report struct {
	Program    string       `json:"program"`
	At         time.Time    `json:"at"`
	By         string       `json:"by,omitempty"`
	Left       SourceReport `json:"left"`
	Right      SourceReport `json:"right"`
	RecipeHash string       `json:"recipe_sha256"`
	Confirmed  int          `json:"confirmed_pairs"`
	Rejected   int          `json:"rejected_pairs"`
	Answers    *Labels      `json:"answers,omitempty"` // the pairs that a person decided about
	Outcome    *Outcome     `json:"outcome"`
	Drift      *Drift       `json:"drift,omitempty"`
	Carried    [2]int64     `json:"carried_over"` // open items of an earlier run, left and right

	Recipe *Recipe `json:"-"` // a file of its own
}

// A SourceReport identifies one side.
type SourceReport struct {
	Name  string `json:"name"`
	Rows  int64  `json:"rows"`
	Key   string `json:"key,omitempty"`
	Scope string `json:"scope,omitempty"` // the conditions that chose its rows, in words
	Hash  string `json:"hash,omitempty"`  // of its file, or of its rows
}

// Hash is the SHA-256 of the recipe as it is written.
func (r *Recipe) Hash() string {
	sum := sha256.Sum256(r.Encode())
	return hex.EncodeToString(sum[:])
}

// An Exporter writes the rows of a SELECT into a file. query.Workspace is one.
type Exporter interface {
	Export(ctx context.Context, format query.Format, path, selectSQL string, args ...string) (query.Exported, error)
}

// Producer marks files of evidence that are kept among other files.
const Producer = "reconciliation"

// Files of the evidence that a later run reads.
const (
	reportFile = "report.json"
	recipeFile = "recipe.json"
	openLeft   = "open_left.parquet"
	openRight  = "open_right.parquet"
)

// WriteEvidence writes the evidence of the last run into a folder: the report, the
// recipe, the tables as CSV and Parquet, the open rows for a later run, and a workbook.
// It gives the names of the files. Evidence that the folder holds stays as it is until all
// of the new one is written.
func (r *Reconciler) WriteEvidence(ctx context.Context, dir string, in Input, rep Report) ([]string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fault.Wrap(err, fault.BadRequest, "The folder %s cannot be made: %v", dir, err)
	}
	fresh, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return nil, fault.Wrap(err, fault.BadRequest, "Nothing can be written into %s: %v", dir, err)
	}
	defer os.RemoveAll(fresh)
	files, err := r.writeFiles(ctx, fresh, in, rep)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := os.Rename(filepath.Join(fresh, file), filepath.Join(dir, file)); err != nil {
			return nil, fault.Wrap(err, fault.BadRequest, "%s cannot be written: %v", filepath.Join(dir, file), err)
		}
	}
	return files, nil
}

// writeFiles writes the files of the evidence into an empty folder.
func (r *Reconciler) writeFiles(ctx context.Context, dir string, in Input, rep Report) ([]string, error) {
	out, ok := r.space.(Exporter)
	if !ok {
		return nil, fault.New(fault.Unavailable, "This workspace cannot write files.")
	}
	rep.RecipeHash = rep.Recipe.Hash()
	if len(in.Labels.Confirmed)+len(in.Labels.Rejected) > 0 {
		rep.Answers = &in.Labels
	}
	doc, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the report: %w", err)
	}
	var files []string
	write := func(file string, content []byte) error {
		files = append(files, file)
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			return fault.Wrap(err, fault.BadRequest, "%s cannot be written: %v", filepath.Join(dir, file), err)
		}
		return nil
	}
	if err := write(reportFile, append(doc, '\n')); err != nil {
		return nil, err
	}
	if err := write(recipeFile, rep.Recipe.Encode()); err != nil {
		return nil, err
	}
	for _, s := range r.sheets(rep.Recipe) {
		for _, format := range []query.Format{query.CSV, query.Parquet} {
			file := s.file + "." + string(format)
			if _, err := out.Export(ctx, format, filepath.Join(dir, file), s.selectSQL(format == query.CSV)); err != nil {
				return nil, fmt.Errorf("writing %s: %w", file, err)
			}
			files = append(files, file)
		}
	}
	for _, s := range []struct {
		side   Side
		isLeft bool
		file   string
	}{{in.Left, true, openLeft}, {in.Right, false, openRight}} {
		const table = "recon_openitems"
		if err := r.OpenItems(ctx, s.side, s.isLeft, table); err != nil {
			return nil, err
		}
		if _, err := out.Export(ctx, query.Parquet, filepath.Join(dir, s.file), "SELECT * FROM "+table); err != nil {
			return nil, fmt.Errorf("writing %s: %w", s.file, err)
		}
		files = append(files, s.file)
	}
	const book = "evidence.xlsx"
	if err := r.writeWorkbook(ctx, filepath.Join(dir, book), rep); err != nil {
		return nil, fmt.Errorf("writing %s: %w", book, err)
	}
	files = append(files, book)
	for _, file := range files { // the worker and this process write with other modes
		if err := os.Chmod(filepath.Join(dir, file), 0o600); err != nil {
			return nil, fmt.Errorf("writing %s: %w", file, err)
		}
	}
	return files, nil
}

// A Previous is what an earlier run left in a folder.
type Previous struct {
	Report              Report
	Recipe              *Recipe
	OpenLeft, OpenRight string // files of its open rows
}

// ReadPrevious reads the evidence of an earlier run.
func ReadPrevious(dir string) (*Previous, error) {
	raw, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		return nil, fault.Wrap(err, fault.BadRequest, "%s holds no evidence of an earlier run: %v", dir, err).
			Suggest("Name a folder that --out wrote.")
	}
	p := &Previous{OpenLeft: filepath.Join(dir, openLeft), OpenRight: filepath.Join(dir, openRight)}
	if err := json.Unmarshal(raw, &p.Report); err != nil || p.Report.Outcome == nil {
		return nil, fault.New(fault.BadRequest, "%s is no report of a run.", filepath.Join(dir, reportFile))
	}
	if raw, err = os.ReadFile(filepath.Join(dir, recipeFile)); err != nil {
		return nil, fault.Wrap(err, fault.BadRequest, "The recipe of the earlier run cannot be read: %v", err)
	}
	p.Recipe, err = ParseRecipe(raw)
	return p, err
}

// A sheet is a table of the evidence as a person reads it.
type sheet struct {
	file, title string
	from        string
	columns     []sheetColumn
}

type sheetColumn struct {
	title, sql string
	text       bool // may hold what a person or a file wrote
}

// selectSQL selects the sheet. Text that a spreadsheet would take for a formula gets an
// apostrophe before it where the format has no type for text.
func (s sheet) selectSQL(harmless bool) string {
	return "SELECT " + each(s.columns, ", ", func(_ int, c sheetColumn) string {
		sql := c.sql
		if harmless && c.text {
			sql = fmt.Sprintf(`CASE WHEN regexp_matches(%[1]s, '^[=+@\t\r-]') AND TRY_CAST(%[1]s AS DOUBLE) IS NULL THEN '''' || %[1]s ELSE %[1]s END`, sql)
		}
		return sql + " AS " + name(c.title)
	}) + " FROM " + s.from
}

// sheets lists the tables of the evidence.
func (r *Reconciler) sheets(recipe *Recipe) []sheet {
	matches := sheet{file: "matches", title: "Matches", from: MatchTable + " ORDER BY match_id", columns: []sheetColumn{
		{"match", "match_id", false},
		{"group", "group_id", false},
		{"rule", "rule", false},
		{"status", "status", false},
		{"left key", "left_key", true},
		{"right key", "right_key", true},
		{"left amount", "left_amount", false},
		{"right amount", "right_amount", false},
		{"difference", "round(right_amount - left_amount, 2)", false},
		{"probability", "chance", false},
		{"score", "score", false},
		{"margin", "margin", false},
	}}
	if sql := recipe.feeSQL(); sql != "" {
		matches.columns = append(matches.columns, sheetColumn{"fee", sql, false})
	}
	for _, c := range recipe.Comparisons {
		l, rt := columnTitle(c.Left, c.As), columnTitle(c.Right, c.As)
		matches.columns = append(matches.columns,
			sheetColumn{c.ID + " left: " + l, c.ID + "_left", r.lastLeft.holdsText(c.Left)}, sheetColumn{c.ID + " right: " + rt, c.ID + "_right", r.lastRight.holdsText(c.Right)},
			sheetColumn{c.ID + " level", c.As.levelWordsSQL(c.ID + "_level"), false}, sheetColumn{c.ID + " weight", c.ID + "_weight", false})
	}
	matches.columns = append(matches.columns, sheetColumn{"closeness", "closeness", false})
	out := []sheet{matches}
	for _, side := range []string{sideLeft, sideRight} {
		s := sheet{file: "unmatched_" + side, title: "Open " + side, columns: []sheetColumn{
			{"key", "u.key", true},
			{"reason", reasonSQL("u.reason"), false},
			{"nearest", "u.nearest_key", true},
			{"what was missing", "u.missing", true},
			{"nearest is taken by", "u.taken_by", true},
			{"probability", "u.chance", false},
		}}
		ready, t := readyLeft, r.lastLeft
		if side == sideRight {
			ready, t = readyRight, r.lastRight
		}
		s.from = fmt.Sprintf("%s AS u JOIN %s AS t ON t.i = u.i WHERE u.side = '%s' ORDER BY u.i", UnmatchedTable, ready, side)
		seen, titles := map[string]bool{}, map[string]bool{}
		for _, c := range s.columns {
			titles[c.title] = true
		}
		for _, c := range recipe.Comparisons {
			columns := c.Left
			if side == sideRight {
				columns = c.Right
			}
			for _, column := range columns {
				if seen[column] {
					continue
				}
				seen[column] = true
				title := column
				for titles[strings.ToLower(title)] {
					title += " of the row"
				}
				titles[strings.ToLower(title)] = true
				s.columns = append(s.columns, sheetColumn{title, fmt.Sprintf("t.v%d", t.column(column)), t.holdsText([]string{column})})
			}
		}
		out = append(out, s)
	}
	return append(out, sheet{file: "conflicts", title: "Conflicts", from: ConflictTable + " ORDER BY conflict_id, li, ri", columns: []sheetColumn{
		{"conflict", "conflict_id", false},
		{"left key", "left_key", true},
		{"right key", "right_key", true},
		{"left amount", "left_amount", false},
		{"right amount", "right_amount", false},
		{"score", "score", false},
	}})
}

func columnTitle(columns []string, as Kind) string {
	switch {
	case as == Number:
		return sideName(columns)
	case len(columns) > 2:
		return "all text"
	}
	return strings.Join(columns, " and ")
}

// reasonWords say in plain words why a row is open.
var reasonWords = map[string]string{
	ReasonNone:      "nothing on the other side looks like it",
	ReasonBelow:     "the nearest row is not alike enough",
	ReasonLost:      "the nearest row has a better partner",
	ReasonAmbiguous: "several rows fit equally well",
	ReasonNetted:    "another row of its side cancels it",
}

// ReasonInWords says why a row is open.
func ReasonInWords(reason string) string { return cmp.Or(reasonWords[reason], reason) }

func reasonSQL(column string) string {
	var b strings.Builder
	b.WriteString("CASE " + column)
	for _, reason := range []string{ReasonNone, ReasonBelow, ReasonLost, ReasonAmbiguous, ReasonNetted} {
		fmt.Fprintf(&b, " WHEN %s THEN %s", text(reason), text(reasonWords[reason]))
	}
	return b.String() + " ELSE " + column + " END"
}
