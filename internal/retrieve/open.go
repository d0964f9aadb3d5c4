package retrieve

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"interlock/internal/fault"
)

// An Excerpt is the text at one place of a document: what a citation opens.
type Excerpt struct {
	Document Document `json:"document"`
	Place    string   `json:"place"`
	Content  string   `json:"content"`
	// Passages are the parts of the content that a search finds, in order.
	Passages []string `json:"passages"`
	// Places lists all places of the document in order, so that a reader can go on from here.
	Places []string `json:"places"`
}

// OpenPlace returns the whole text at a place of a document that the owner may see; "" is its first
// place. A document keeps its id when its content changes: then a place may be gone.
func (x *Index) OpenPlace(ctx context.Context, owner, document, place string) (Excerpt, error) {
	out, err := x.openPlace(ctx, owner, document, place)
	return out, storeFault(err, "opening a document")
}

func (x *Index) openPlace(ctx context.Context, owner, document, place string) (Excerpt, error) {
	tx, err := x.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Excerpt{}, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	found, err := x.findDocument(ctx, tx, owner, document)
	if err != nil {
		return Excerpt{}, err
	}
	out := Excerpt{Document: found, Places: []string{}}
	texts := map[string][]string{}
	err = eachRow(ctx, tx, func(rows *sql.Rows) error {
		var at, content string
		err := rows.Scan(&at, &content)
		if texts[at] == nil {
			out.Places = append(out.Places, at)
		}
		texts[at] = append(texts[at], content)
		return err
	}, "SELECT c.place, c.content FROM chunks c JOIN documents d ON d.id = c.document WHERE d.key = ? ORDER BY c.number", document)
	switch {
	case err != nil:
		return Excerpt{}, err
	case found.Problem != nil:
		return Excerpt{}, fault.New(found.Problem.Code, "%s %s", found.File, found.Problem.Message).Suggest("%s", found.Problem.Suggestion)
	case place == "" && len(out.Places) > 0:
		place = out.Places[0]
	case !slices.Contains(out.Places, place):
		return Excerpt{}, fault.New(fault.NotFound, "%s has no place %q", found.File, place).Suggest("The document has changed since it was cited. Open it without a place to see those that it has.")
	}
	out.Place, out.Passages = place, append([]string{}, texts[place]...)
	out.Content = strings.Join(out.Passages, "\n\n")
	return out, nil
}

// findDocument returns a document that the owner may see. One of another owner does not exist.
func (x *Index) findDocument(ctx context.Context, q querier, owner, id string) (Document, error) {
	var found []Document
	err := eachRow(ctx, q, func(rows *sql.Rows) error {
		d, err := scanDocument(rows)
		found = append(found, d)
		return err
	}, selectDocuments+" WHERE d.key = ? AND d.owner IN ('', ?)", x.encoder.Name(), id, owner)
	if err == nil && len(found) == 0 {
		err = fault.New(fault.NotFound, "there is no document %q", id).Suggest("List the documents for their ids.")
	}
	if err != nil {
		return Document{}, err
	}
	return found[0], nil
}

// RemoveDocument forgets a document of the owner and returns what it was.
func (x *Index) RemoveDocument(ctx context.Context, owner, id string) (Document, error) {
	d, err := x.findDocument(ctx, x.db, owner, id)
	if err != nil {
		return d, storeFault(err, "removing a document")
	}
	if d.Owner != owner {
		return d, fault.New(fault.Forbidden, "%s belongs to the operator", d.File).Suggest("Ask the operator to remove it.")
	}
	err = x.change(ctx, func(tx *sql.Tx) error {
		var number int64
		if err := tx.QueryRowContext(ctx, "SELECT id FROM documents WHERE key = ?", id).Scan(&number); err != nil {
			return err
		}
		if err := deleteDocument(ctx, tx, number); err != nil {
			return err
		}
		return raiseGeneration(ctx, tx, "documents")
	})
	return d, storeFault(err, "removing a document")
}
