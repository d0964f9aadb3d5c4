package schema

// A Relation says that Column of Table refers to RefColumn of RefTable.
type Relation struct {
	Table     string `json:"table"`
	Column    string `json:"column"`
	RefTable  string `json:"ref_table"`
	RefColumn string `json:"ref_column"`
}
