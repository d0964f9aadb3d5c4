package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"interlock/internal/source"
	"interlock/internal/sqlpolicy"
)

// countTimeout is how long the rows of a result that was cut off are counted where they are.
const countTimeout = 5 * time.Second

// countThere counts the rows of a statement that was allowed, where they are.
func countThere(ctx context.Context, to *remoteLink, user string, d sqlpolicy.Decision) (int64, error) {
	d.SQL = "SELECT count(*) AS n FROM (\n" + strings.TrimRight(strings.TrimSpace(d.SQL), ";") + "\n) AS counted"
	answer, err := to.run(ctx, user, d, source.Limits{Rows: 1, Timeout: countTimeout})
	if err != nil {
		return 0, err
	}
	var rows [][]json.Number
	if err := json.Unmarshal(answer.Rows, &rows); err != nil || len(rows) != 1 {
		return 0, fmt.Errorf("counting rows: %w", errors.Join(err, errNotOneRow))
	}
	return rows[0][0].Int64()
}

var errNotOneRow = errors.New("the count is not one row")
