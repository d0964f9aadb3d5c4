package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"interlock/internal/dialect"
	"interlock/internal/schema"
)

// lookPatience is how long the server may look for values that the type of a column
// would not keep. Where it takes longer, the type stays, and such a value is refused
// when it is read.
const lookPatience = 5 * time.Second

// postgresLoss is the condition of values that the column's type would change, and what
// such a value is called. Types that keep every value have no condition.
func postgresLoss(c schema.Column) (condition, what string) {
	name := dialect.PostgreSQL.Quote(c.Name)
	switch c.Type.Kind {
	case schema.Date, schema.Timestamp, schema.TimestampTZ:
		return fmt.Sprintf("isfinite(%[1]s) AND NOT (%[1]s >= '0001-01-01' AND %[1]s < '294247-01-01')", name), "before the year 1 or after the year 294246"
	case schema.Time:
		return name + " = '24:00:00'", "24:00:00"
	case schema.Decimal:
		if c.Native == "numeric" && c.Type.Width > 0 {
			return name + " = 'NaN'", "NaN"
		}
	}
	return "", ""
}

// keepPostgresText makes text of the columns with values that their type would not keep.
func keepPostgresText(ctx context.Context, pool *pgxpool.Pool, table []string, columns []schema.Column) error {
	var (
		asks   []string
		asked  []int
		answer []any
	)
	for i, c := range columns {
		if condition, _ := postgresLoss(c); condition != "" {
			asks = append(asks, fmt.Sprintf("count(*) FILTER (WHERE %s), coalesce(min(%s::text) FILTER (WHERE %[1]s), '')", condition, dialect.PostgreSQL.Quote(c.Name)))
			asked = append(asked, i)
			answer = append(answer, new(int64), new(string))
		}
	}
	if len(asked) == 0 {
		return nil
	}
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		// The session's own limit may be lower.
		if _, err := tx.Exec(ctx, `SELECT set_config('statement_timeout', least($1, nullif(setting::int, 0))::text, true) FROM pg_settings WHERE name = 'statement_timeout'`,
			lookPatience.Milliseconds()); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "SELECT "+strings.Join(asks, ", ")+" FROM "+dialect.PostgreSQL.Quote(table[0])+"."+dialect.PostgreSQL.Quote(table[1])).Scan(answer...)
	})
	if late, ok := errors.AsType[*pgconn.PgError](err); ok && late.Code == "57014" && ctx.Err() == nil {
		return nil
	} else if err != nil {
		return err
	}
	for k, i := range asked {
		if count := *answer[2*k].(*int64); count > 0 {
			_, what := postgresLoss(columns[i])
			columns[i].KeepText(count, *answer[2*k+1].(*string), what)
		}
	}
	return nil
}
