package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	clickhousedriver "github.com/ClickHouse/clickhouse-go/v2"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	snowflakedriver "github.com/snowflakedb/gosnowflake/v2"
	trinodriver "github.com/trinodb/trino-go-client/trino"

	"interlock/internal/fault"
)

// driverFault turns a driver's error into a fault that names the source. Its cause never
// holds the password.
func (c Config) driverFault(ctx context.Context, err error, doing string) error {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	stopped := context.Cause(ctx)
	cause := c.Password.scrub(err)
	switch {
	case errors.Is(stopped, context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(cause, fault.QueryTimeout, "%s %s took longer than allowed", doing, c.displayName())
	case stopped != nil || errors.Is(err, context.Canceled):
		return fault.Wrap(cause, fault.QueryCancelled, "%s %s was cancelled", doing, c.displayName())
	}
	if large, ok := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); ok {
		return fault.Wrap(cause, fault.TooLarge, "%s %s: a row has %d MB; at most %d MB are read (the limit of a result's bytes)", doing, c.displayName(), large.ActualBodyLen>>20, large.MaxExpectedBodyLen>>20).
			Suggest("Ask for less: leave out or shorten the large column.")
	}
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return c.serverFault(cause, doing, said.Code, said.Message)
	}
	if said, ok := errors.AsType[*mysqldriver.MySQLError](err); ok {
		return c.serverFault(cause, doing, fmt.Sprint(said.Number), said.Message)
	}
	if said, ok := errors.AsType[*clickhousedriver.Exception](err); ok {
		return c.serverFault(cause, doing, fmt.Sprintf("CH%d", said.Code), said.Message)
	}
	if said, ok := errors.AsType[*snowflakedriver.SnowflakeError](err); ok && (said.Number < 200_000 || said.Number/1000 == 390) { // others are the driver's own
		return c.serverFault(cause, doing, fmt.Sprintf("SF%d", said.Number), said.Message)
	}
	if said, ok := errors.AsType[*trinodriver.ErrTrino](err); ok {
		return c.serverFault(cause, doing, said.ErrorName, said.Message)
	}
	if said, ok := errors.AsType[*trinodriver.ErrQueryFailed](err); ok && said.StatusCode == http.StatusUnauthorized {
		return c.serverFault(cause, doing, "28000", "unauthorized")
	}
	if wrong, ok := errors.AsType[*cellError](err); ok {
		return fault.Wrap(cause, fault.SourceUnreadable, "%s %s: %s", doing, c.displayName(), wrong).
			Suggest("Correct the value in the source, or leave the column out.")
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return fault.Wrap(cause, fault.SourceUnreadable, "no connection to %s: %s", c.displayName(), c.publicText(cause)).
			Suggest("Check address, port, user, password and that the server runs.")
	}
	return fault.Wrap(cause, fault.SourceUnreadable, "%s %s failed: %s", doing, c.displayName(), c.publicText(cause)).
		Suggest("Check that the server still runs and can be reached, then try again.")
}

// serverFault turns an error that the server itself reported into a fault.
func (c Config) serverFault(cause error, doing, code, message string) error {
	said := message
	message = c.hidePlaces(c.Password.scrub(errors.New(message)).Error())
	switch code {
	case "57014", "3024", "1969", "CH159", "EXCEEDED_TIME_LIMIT", "SF630": // statement_timeout, max_execution_time, max_statement_time
		return fault.Wrap(cause, fault.QueryTimeout, "%s %s took longer than the %s it is allowed", doing, c.displayName(), c.Timeout)
	case "28P01", "28000", "1045", "CH192", "CH193", "CH516", "SF390100", "SF390144":
		return fault.Wrap(cause, fault.SourceUnreadable, "%s refused the user or password", c.displayName()).Suggest("Check user and password.")
	case "57P01", "57P02", "57P03", "1053", "1077", "SERVER_SHUTTING_DOWN":
		return fault.Wrap(cause, fault.SourceUnreadable, "%s %s: the server went away", doing, c.displayName()).
			Suggest("Check that the server runs, then try again.")
	case "CH241", "EXCEEDED_LOCAL_MEMORY_LIMIT", "EXCEEDED_GLOBAL_MEMORY_LIMIT", "CLUSTER_OUT_OF_MEMORY":
		return fault.Wrap(cause, fault.QueryMemory, "%s %s needs more memory there than it is allowed", doing, c.displayName())
	case "CH396":
		return fault.Wrap(cause, fault.TooLarge, "%s %s: the result is larger than may be read (the limit of a result's bytes): %s", doing, c.displayName(), message).
			Suggest("Ask for less: leave out or shorten the large column.")
	case "25006", "1792", "CH164":
		return fault.Wrap(cause, fault.SQLPolicy, "%s is only read: %s", c.displayName(), message)
	}
	if doing == "querying" {
		// The message repeats parts of the user's own statement and cannot hold the password.
		// Hiding a word of it would confirm a guess of the password.
		return fault.Wrap(cause, fault.SQLError, "%s", said)
	}
	return fault.Wrap(cause, fault.SourceUnreadable, "%s %s: the server says: %s (%s)", doing, c.displayName(), message, code).
		Suggest("Check that the table exists and that this user may read it.")
}

// A cellError is a value that does not have the type of its column.
type cellError struct {
	column string
	row    int64
	reason error
}

func (e *cellError) Error() string {
	return fmt.Sprintf("column %q, row %d: %s", e.column, e.row, e.reason)
}
