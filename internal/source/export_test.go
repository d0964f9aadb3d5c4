package source

import "database/sql"

// OpenDB gives the connections that a connector uses, for tests of what the session
// itself refuses.
func OpenDB(c Config) (*sql.DB, error) {
	c, err := c.prepare()
	if err != nil {
		return nil, err
	}
	open := map[string]opener{"clickhouse": clickhouseDB, "trino": trinoDB, "snowflake": snowflakeDB}
	db, _, err := open[Scheme(c.URL)](c)
	return db, err
}
