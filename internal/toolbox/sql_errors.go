package toolbox

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

var (
	missingTable  = regexp.MustCompile(`^There is no table [\p{L}_][\p{L}\p{N}_]* in this dataset\.`)
	missingColumn = regexp.MustCompile(`(?i)column .*(not found|does not exist)|not have a column|no column`)
)

// explainSQLError makes of a refused or failed statement what helps to correct it. A plain
// name that no table has is a slip and no attempt to reach elsewhere; where a column does
// not exist, the columns of the tables that the statement names are listed.
func (b box) explainSQLError(ctx context.Context, q Query, err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok {
		return err
	}
	refusal, _ := f.Details.(sqlpolicy.Refusal)
	switch {
	case f.Code == fault.SQLPolicy && refusal.Rule == sqlpolicy.RuleTable && missingTable.MatchString(f.Message):
		// Where a reply has only the message, it must name the tables.
		return fault.Wrap(err, fault.SQLError, "%s %s", f.Message, f.Suggestion).Suggest("Write the statement with one of these tables.")
	case f.Code == fault.SQLError && missingColumn.MatchString(f.Message):
		d, schemaErr := b.Data.Schema(ctx, q.Dataset)
		if schemaErr != nil {
			return err
		}
		if list := columnsNamed(d, q.SQL); list != "" {
			return fault.Wrap(err, fault.SQLError, "%s", f.Message).Suggest("%s", list)
		}
	}
	return err
}

// columnsNamed lists the columns of the tables that a statement names.
func columnsNamed(d schema.Dataset, sql string) string {
	const most = 2000 // bytes
	named := tablesNamed(sql)
	var parts []string
	for _, t := range d.Tables {
		if named[strings.ToLower(t.Name)] {
			parts = append(parts, t.Name+" has the columns "+strings.Join(schema.Names(t.Columns), ", ")+".")
		}
	}
	return oneLine(strings.Join(parts, " "), most)
}
