// Package schema is what data looks like, wherever they are: types, columns, tables and
// how they hang together, the dictionary that explains them, and conditions on rows.
// Every package that speaks of data uses these types. It is pure.
package schema
