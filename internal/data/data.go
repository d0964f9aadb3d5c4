// Package data is the data of a deployment: its datasets and sources, statements and
// the results that they leave, exports and repeats of recorded calls, and the tables
// that Python gets. It joins catalog, query, sandbox and artifacts, and implements the
// small interfaces through which toolbox and server see data.
package data
