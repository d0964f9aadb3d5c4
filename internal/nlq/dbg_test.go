package nlq_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/nlq"
)

func TestDebug(t *testing.T) {
	db, q := os.Getenv("DB"), os.Getenv("Q")
	if q == "" {
		t.Skip()
	}
	var b *base
	if db == "shop" || db == "league" {
		b = small(t, db)
	} else {
		b = open(t, filepath.Join(benchDir(t), db+".sqlite"))
	}
	nlq.Debug(b.index, q)
	fmt.Println(nlq.Plan(nlq.Question{Text: q, Index: b.index}).SQL)
}
