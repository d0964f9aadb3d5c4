package nlq

import (
	"fmt"
	"time"
)

func Debug(x *Index, text string) {
	r := newReader(x, text, time.Now())
	r.read()
	for i := range r.chunks {
		c := &r.chunks[i]
		s := ""
		if c.mention != nil {
			for _, m := range c.mention.columns[:min(3, len(c.mention.columns))] {
				s += fmt.Sprintf(" %s.%s=%.2f", x.tableName(x.columns[m.id].table), x.columns[m.id].name, m.score)
			}
			for _, m := range c.mention.tables[:min(2, len(c.mention.tables))] {
				s += fmt.Sprintf(" T:%s=%.2f", x.tableName(m.id), m.score)
			}
		}
		fmt.Printf("  %-30q role=%d cond=%v used=%v filler=%v val=%v %s\n", r.text(c), c.role, c.cond, c.used, c.filler, c.isValue, s)
	}
	fmt.Printf("  subject=%d items=%+v\n  conds=%+v\n  sups=%+v\n  groups=%+v doubts=%+v\n", r.subject, r.items, r.conds, r.sups, r.groups, r.doubts)
}
