package recon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"interlock/internal/fault"
)

const (
	sheetRows = 200_000 // rows of one sheet; the files beside the workbook have all
	pageRows  = 20_000
)

// writeWorkbook writes the evidence as a workbook: a summary that can be signed, and the
// tables. Every text is a text cell, so that none is a formula.
func (r *Reconciler) writeWorkbook(ctx context.Context, path string, rep Report) (err error) {
	book := excelize.NewFile()
	defer func() {
		if closed := book.Close(); err == nil {
			err = closed
		}
	}()
	head, err := book.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"E7ECF3"}}})
	if err != nil {
		return err
	}
	if err := book.SetSheetName("Sheet1", "Summary"); err != nil {
		return err
	}
	notes := []string{}
	for _, s := range r.sheets(rep.Recipe) {
		note, err := r.writeSheet(ctx, book, s, head)
		if err != nil {
			return fmt.Errorf("the sheet %s: %w", s.title, err)
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	if err := writeAnswers(book, rep.Answers, head); err != nil {
		return fmt.Errorf("the sheet Answers: %w", err)
	}
	if err := writeSummary(book, rep, notes); err != nil {
		return fmt.Errorf("the summary: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fault.Wrap(err, fault.BadRequest, "%s cannot be written: %v", path, err)
	}
	if _, err := book.WriteTo(stoppableWriter{ctx, f}); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// A stoppableWriter fails once its context has ended, so that a large workbook is not
// written to its end for somebody who stopped the call.
type stoppableWriter struct {
	ctx context.Context
	io.Writer
}

func (w stoppableWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// writeSheet streams a table into a sheet and says if it did not fit.
func (r *Reconciler) writeSheet(ctx context.Context, book *excelize.File, s sheet, head int) (note string, err error) {
	if _, err := book.NewSheet(s.title); err != nil {
		return "", err
	}
	w, err := book.NewStreamWriter(s.title)
	if err != nil {
		return "", err
	}
	if err := w.SetColWidth(1, len(s.columns), 18); err != nil {
		return "", err
	}
	if err := w.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return "", err
	}
	titles := make([]any, len(s.columns))
	for i, c := range s.columns {
		titles[i] = excelize.Cell{StyleID: head, Value: c.title}
	}
	if err := w.SetRow("A1", titles); err != nil {
		return "", err
	}
	total := 0
	for ; total < sheetRows; total += pageRows {
		page, err := r.space.Query(ctx, fmt.Sprintf("%s LIMIT %d OFFSET %d", s.selectSQL(false), pageRows, total))
		if err != nil {
			return "", err
		}
		var rows [][]any
		if err := json.Unmarshal(page.Rows, &rows); err != nil {
			return "", fmt.Errorf("reading rows: %w", err)
		}
		for i, row := range rows {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			for j, cell := range row {
				if text, ok := cell.(string); ok && len(text) > excelize.TotalCellChars {
					row[j] = strings.ToValidUTF8(text[:excelize.TotalCellChars-4], "") + "…"
				}
			}
			if err := w.SetRow(fmt.Sprintf("A%d", total+i+2), row); err != nil {
				return "", err
			}
		}
		if len(rows) < pageRows {
			total += len(rows)
			break
		}
	}
	if total == sheetRows {
		note = fmt.Sprintf("The sheet %s has the first %d rows; %s.csv and %s.parquet have all.", s.title, sheetRows, s.file, s.file)
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	last, err := excelize.CoordinatesToCellName(len(s.columns), total+1)
	if err != nil {
		return "", err
	}
	return note, book.AutoFilter(s.title, "A1:"+last, nil)
}

// writeAnswers lists the pairs that a person decided about, if there are any.
func writeAnswers(book *excelize.File, answers *Labels, head int) error {
	if answers == nil {
		return nil
	}
	const title = "Answers"
	if _, err := book.NewSheet(title); err != nil {
		return err
	}
	w, err := book.NewStreamWriter(title)
	if err != nil {
		return err
	}
	rows := [][]any{{excelize.Cell{StyleID: head, Value: "answer"}, excelize.Cell{StyleID: head, Value: "left key"}, excelize.Cell{StyleID: head, Value: "right key"}}}
	for _, p := range answers.Confirmed {
		rows = append(rows, []any{"they match", p.Left, p.Right})
	}
	for _, p := range answers.Rejected {
		rows = append(rows, []any{"they do not", p.Left, p.Right})
	}
	if err := w.SetColWidth(1, 3, 18); err != nil {
		return err
	}
	for i, row := range rows[:min(len(rows), sheetRows)] {
		if err := w.SetRow(fmt.Sprintf("A%d", i+1), row); err != nil {
			return err
		}
	}
	return w.Flush()
}

// A summaryWriter writes the summary sheet from top to bottom.
type summaryWriter struct {
	book                *excelize.File
	row                 int
	title, head, amount int
	err                 error
}

func (s *summaryWriter) line(style int, cells ...any) {
	s.row++
	for i, c := range cells {
		if s.err != nil || c == nil {
			continue
		}
		at, _ := excelize.CoordinatesToCellName(i+1, s.row)
		if text, ok := c.(string); ok {
			s.err = s.book.SetCellStr("Summary", at, text)
		} else {
			s.err = s.book.SetCellValue("Summary", at, c)
		}
		if _, number := c.(float64); number && style == 0 {
			s.style(at, s.amount)
		}
		if style != 0 {
			s.style(at, style)
		}
	}
}

func (s *summaryWriter) style(at string, style int) {
	if s.err == nil {
		s.err = s.book.SetCellStyle("Summary", at, at, style)
	}
}

func (s *summaryWriter) section(title string, columns ...any) {
	s.row++
	s.line(s.head, append([]any{title}, columns...)...)
}

// writeSummary writes the sheet that an auditor signs.
func writeSummary(book *excelize.File, rep Report, notes []string) error {
	s := &summaryWriter{book: book}
	money := "#,##0.00;-#,##0.00"
	s.title, s.err = book.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true, Size: 16}})
	if s.err == nil {
		s.head, s.err = book.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"E7ECF3"}}})
	}
	if s.err == nil {
		s.amount, s.err = book.NewStyle(&excelize.Style{CustomNumFmt: &money})
	}
	o := rep.Outcome
	s.line(s.title, "Reconciliation of "+rep.Left.Name+" with "+rep.Right.Name)
	s.line(0, "Made at", rep.At.UTC().Format(time.RFC3339))
	s.line(0, "Made by", strings.TrimSpace(rep.By+" with "+rep.Program))

	s.section("Sources", "name", "rows", "key", "scope", "hash")
	for _, side := range []struct {
		title string
		SourceReport
	}{{"left", rep.Left}, {"right", rep.Right}} {
		s.line(0, side.title, side.Name, side.Rows, orWords(side.Key, "position of the row"), orWords(side.Scope, "all rows"), side.Hash)
	}
	if rep.Carried != [2]int64{} {
		s.line(0, "carried over", "open items of the run before", rep.Carried[0]+rep.Carried[1], nil, fmt.Sprintf("%d left, %d right", rep.Carried[0], rep.Carried[1]))
	}

	s.section("Recipe")
	s.line(0, "SHA-256", rep.Recipe.Hash())
	s.line(0, "cardinality", strings.ReplaceAll(rep.Recipe.Cardinality, "_", " "))
	s.line(0, "taught by", fmt.Sprintf("%d confirmed and %d rejected pairs", rep.Confirmed, rep.Rejected))

	s.section("Result", "left", "right")
	s.line(0, "rows", o.LeftRows, o.RightRows)
	s.line(0, "rows matched", o.LeftRows-o.UnmatchedLeft, o.RightRows-o.UnmatchedRight)
	s.line(0, "rows open", o.UnmatchedLeft, o.UnmatchedRight)
	if rep.Recipe.Groups != nil {
		c := rep.Recipe.Comparisons[indexOf(rep.Recipe.Comparisons, rep.Recipe.Groups.Amount)]
		s.line(0, "column of the amounts", strings.Join(c.Left, ", "), strings.Join(c.Right, ", "))
		s.line(0, "amount", hundredths(o.AmountMatched+o.AmountOpen), hundredths(o.MatchedRight+o.AmountOpenRight))
		s.line(0, "amount matched", o.AmountMatched, o.MatchedRight)
		s.line(0, "amount open", o.AmountOpen, o.AmountOpenRight)
		s.line(0, "right minus left, matched", nil, hundredths(o.MatchedRight-o.AmountMatched))
		s.line(0, "right minus left, open", nil, hundredths(o.AmountOpenRight-o.AmountOpen))
	}
	s.line(0, "pairs matched", o.Matched)
	s.line(0, "of these to be looked at", o.Suggested)
	s.line(0, "sums of several rows", o.Groups)

	s.section("Open rows, by reason", "left rows", "right rows", "left amount", "right amount")
	for _, x := range o.Open {
		s.line(0, ReasonInWords(x.Reason), x.Left, x.Right, x.LeftAmount, x.RightAmount)
	}
	s.line(0, "all open rows", o.UnmatchedLeft, o.UnmatchedRight, o.AmountOpen, o.AmountOpenRight)

	s.section("Rules, in the order in which they apply", "pairs", "left amount", "right amount", "in words")
	for _, rule := range o.Rules {
		s.line(0, rule.Rule, rule.Pairs, rule.LeftAmount, rule.RightAmount, rule.Sentence)
	}
	for _, k := range o.Skewed {
		notes = append(notes, fmt.Sprintf("%d values that very many rows share were not looked up; %d pairs were not compared because of that.", k.Values, k.Pairs))
	}
	if rep.Drift != nil {
		notes = append(notes, fmt.Sprintf("Share of new left rows that are matched: %.1f %%, and %.1f %% in the run before.", 100*rep.Drift.RateNow, 100*rep.Drift.RateBefore))
		if c := o.carried(); c.Left+c.Right > 0 {
			notes = append(notes, fmt.Sprintf("Of the rows carried over, %d of %d left ones and %d of %d right ones are matched now.", c.Left-c.OpenLeft, c.Left, c.Right-c.OpenRight, c.Right))
		}
		notes = append(notes, rep.Drift.Findings...)
	}
	if len(notes) > 0 {
		s.section("Notes")
		for _, note := range notes {
			s.line(0, note)
		}
	}
	s.row++
	for _, role := range []string{"Prepared by", "Reviewed by"} {
		s.row++
		s.line(0, role, "______________________________", "Date", "________________", "Signature", "______________________________")
	}
	if s.err == nil {
		s.err = book.SetColWidth("Summary", "A", "A", 40)
	}
	if s.err == nil {
		s.err = book.SetColWidth("Summary", "B", "D", 24)
	}
	if s.err == nil {
		s.err = book.SetColWidth("Summary", "E", "F", 60)
	}
	if s.err == nil {
		landscape, fit := "landscape", 1
		s.err = book.SetPageLayout("Summary", &excelize.PageLayoutOptions{Orientation: &landscape, FitToWidth: &fit})
	}
	book.SetActiveSheet(0)
	return s.err
}

// hundredths rounds what was added up to hundredths.
func hundredths(f float64) float64 { return math.Round(f*100) / 100 }

func orWords(text, words string) string {
	if text == "" {
		return words
	}
	return text
}
