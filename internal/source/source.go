// Package source reads files and databases: what columns they have, a page of
// them, and the rows under a filter as a stream whose memory is bounded. A filter
// is one type with one translator per dialect; values are bound, names quoted.
package source
