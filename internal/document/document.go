// Package document reads the text of documents (plain text, Markdown, HTML, PDF, DOCX, CSV) with the
// places that a citation names: a page, a heading, a line, rows. Documents are a stranger's, so they
// are parsed in a confined worker process that sees no file and no network: it gets the bytes of a
// document by a pipe and answers with its parts.
//
//	Reader.Read --bytes--> worker (this binary, jailed) --parts--> Document
//
// One goroutine lives here for each call of Read: it feeds the worker and ends with the call.
package document

import (
	"path/filepath"
	"strings"
)

// A Kind is a format of documents.
type Kind string

// The kinds.
const (
	Text     Kind = "txt"
	Markdown Kind = "md"
	HTML     Kind = "html"
	PDF      Kind = "pdf"
	DOCX     Kind = "docx"
	CSV      Kind = "csv"
)

var kinds = map[string]Kind{
	".txt": Text, ".text": Text, ".md": Markdown, ".markdown": Markdown, ".html": HTML, ".htm": HTML, ".pdf": PDF, ".docx": DOCX, ".csv": CSV, ".tsv": CSV,
}

// KindOf goes by the ending of a file's name; "" is none that can be read.
func KindOf(name string) Kind { return kinds[strings.ToLower(filepath.Ext(name))] }

// A Document is the text of a file.
type Document struct {
	Title string   `json:"title,omitempty"`
	Pages int      `json:"pages,omitempty"` // of a PDF
	Parts []Part   `json:"parts"`
	Notes []string `json:"notes,omitempty"` // what could not be read of it
}

// A Part is a stretch of text with its place in the document.
type Part struct {
	Place string `json:"place"` // "page 3", "Returns > Time limits", "line 12", "rows 2-21"; "" is the beginning
	Text  string `json:"text"`
	// Heading is that of the section which the part belongs to, where Place is a page.
	Heading string `json:"heading,omitempty"`
	// Continues says that the part belongs together with the one before it, as paragraphs of
	// plain text do: a quotation may hold both and is cited by the place of the first.
	Continues bool `json:"continues,omitempty"`
}
