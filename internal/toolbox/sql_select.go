package toolbox

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/tool"
)

// Varies says that the same statement may give other rows.
func (o SQLSelectOut) Varies() bool { return o.varies }

// Ran is the statement that gave the rows.
func (o SQLSelectOut) Ran() *event.Ran { return o.ran }

// sqlSelect queries a source one of whose tables was found for the question.
func (b box) sqlSelect() tool.Tool {
	return tool.Versioned(tool.New(spec("sql_select", tool.Reads, taints, mainArgument("sql")), func(ctx context.Context, in SQLSelectIn) (SQLSelectOut, error) {
		if err := in.checkSource(); err != nil {
			return SQLSelectOut{}, err
		}
		out, _, err := b.query(ctx, Query{Dataset: in.SourceID, SQL: in.SQL, MaxRows: in.MaxRows})
		return SQLSelectOut{Columns: out.Columns, Rows: out.Rows, RowCount: out.RowCount, Limited: out.Limited, varies: out.varies, ran: out.ran}, err
	}), func(ctx context.Context, args json.RawMessage) string {
		var in struct {
			SourceID string `json:"source_id"`
		}
		if b.Data == nil || json.Unmarshal(args, &in) != nil || in.SourceID == "" {
			return ""
		}
		return b.Data.Version(ctx, in.SourceID)
	})
}

// checkSource refuses a source none of whose tables was found.
func (in SQLSelectIn) checkSource() error {
	var known []string
	for _, t := range in.Tables {
		if !slices.Contains(known, t.SourceID) {
			known = append(known, t.SourceID)
		}
	}
	if len(known) == 0 || slices.Contains(known, in.SourceID) {
		return nil
	}
	return fault.New(fault.InvalidArguments, "no table of the source %q was found for this question", in.SourceID).Suggest("Use one of: %s.", strings.Join(known, ", "))
}

// requestCapability only says yes: the machine refuses names of what is switched off and moves to
// the state that has the capability.
func requestCapability() tool.Tool {
	return tool.New(spec("request_capability", tool.Computes), func(_ context.Context, in RequestCapabilityIn) (RequestCapabilityOut, error) {
		return RequestCapabilityOut{Name: in.Name, Note: "Granted: " + in.Name + ". Use the tools that are offered now."}, nil
	})
}
