package nlq

import (
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

func isNumericColumn(c *column) bool { return c.isNumeric() && !c.key }

// readSubject finds what is asked for: measures of rows of a table, or the rows.
func (u *understanding) readSubject() {
	switch {
	case u.readShare():
	case u.readRanking():
	case u.readMeasures():
	case u.readBare():
	}
}

// readShare reads `what share of orders is ...`.
func (u *understanding) readShare() bool {
	i := u.find(0, pShare)
	if i < 0 {
		return false
	}
	for j := u.next(i); j >= 0 && j <= i+6; j = u.next(j) {
		if d := u.ps[j].def; u.free(j) && d != nil && d.form == aggregateOf && d.agg == queryplan.Sum {
			u.q.rates = true
			u.addMeasure(measure{table: d.base, col: -1, def: d})
			u.use(i, j)
			return true
		}
		if u.free(j) && u.ps[j].table >= 0 {
			u.q.base, u.q.rates = u.ps[j].table, true
			u.q.measures = []measure{{agg: queryplan.Count, table: u.q.base, col: -1}}
			u.use(i, j)
			return true
		}
	}
	return false
}

// measureAt reads the name at j as something to measure: a defined metric, an amount, or rows.
func (u *understanding) measureAt(j int, agg queryplan.Function) (measure, bool) {
	if !u.free(j) {
		return measure{}, false
	}
	p := &u.ps[j]
	if p.def != nil && p.def.isMeasure() {
		return measure{agg: agg, table: p.def.base, col: -1, def: p.def}, true
	}
	if col := u.column(j, isNumericColumn); col >= 0 && (p.table < 0 || p.cols[0].score > p.tscore) {
		if agg == queryplan.Count && u.x.summable(col) {
			agg = queryplan.Sum // the number of nights, where a column keeps it
		}
		if agg == "" {
			if agg = queryplan.Avg; u.x.summable(col) {
				agg = queryplan.Sum
			}
		}
		return measure{agg: agg, table: u.x.columns[col].table, col: col}, true
	}
	if p.table >= 0 {
		switch agg {
		case "", queryplan.Count:
			return measure{agg: queryplan.Count, table: p.table, col: -1}, true
		default:
			if col := u.x.amountColumn(p.table); col >= 0 {
				return measure{agg: agg, table: p.table, col: col}, true
			}
		}
	}
	return measure{}, false
}

// readMeasures reads `how many orders`, `average price`, the name of a metric.
func (u *understanding) readMeasures() bool {
	for i := range u.ps {
		p := &u.ps[i]
		if p.used {
			continue
		}
		switch p.role {
		case pCount:
			if !u.is(u.prev(i), pBy) {
				u.readCounted(i)
			}
		case pAgg:
			u.readAggregated(i)
		case pHowMuch:
			u.readHowMuch(i)
		case pName:
			if b := u.prev(i); p.def != nil && p.def.isMeasure() && !u.is(b, pBy, pSort) {
				u.addMeasure(measure{table: p.def.base, col: -1, def: p.def})
				u.use(i)
			}
		}
	}
	return len(u.q.measures) > 0
}

func (u *understanding) addMeasure(m measure) {
	if u.q.base < 0 {
		u.q.base = m.table
	} else if m.table != u.q.base {
		u.refuse("the question measures rows of two tables")
		return
	}
	if m.def != nil && m.def.date >= 0 && u.q.dateCol < 0 {
		u.q.dateCol = m.def.date
	}
	u.q.measures = append(u.q.measures, m)
}

// readCounted reads `how many completed appointments`: the rows, or an amount that is itself a number of things.
func (u *understanding) readCounted(i int) {
	value := -1
	for j := u.next(i); j >= 0; j = u.next(j) {
		if !u.is(j, pName, pNew, pTop, pMissing, pAnd, pOr) || value >= 0 && u.verbBetween(value, j) {
			break
		}
		if !u.free(j) {
			continue
		}
		p := &u.ps[j]
		switch {
		case p.table >= 0 && (len(p.cols) == 0 || p.tscore >= p.cols[0].score):
			u.addMeasure(measure{agg: queryplan.Count, table: p.table, col: -1})
			u.use(i, j)
			return
		case p.def != nil && p.def.isMeasure():
			continue
		case len(p.cols) > 0 && len(p.vals) == 0 && p.def == nil:
			if col := u.column(j, isNumericColumn); col >= 0 && u.x.summable(col) {
				u.addMeasure(measure{agg: queryplan.Sum, table: u.x.columns[col].table, col: col})
				u.use(i, j)
				return
			}
		case len(p.vals) > 0 && value < 0:
			value = j
		case p.def != nil && value < 0:
			value = j
		}
	}
	if value < 0 && len(u.q.measures) == 0 && u.next(i) < 0 {
		// Lots over 20 kg, how many: the rows that stand before.
		if k := slices.IndexFunc(u.ps[:i], func(p piece) bool {
			return p.role == pName && p.table >= 0 && !p.used && (len(p.cols) == 0 || p.tscore >= p.cols[0].score)
		}); k >= 0 {
			u.addMeasure(measure{agg: queryplan.Count, table: u.ps[k].table, col: -1})
			u.use(i, k)
		}
		return
	}
	if value >= 0 {
		switch p := &u.ps[value]; {
		case p.def != nil:
			u.addMeasure(measure{agg: queryplan.Count, table: p.def.base, col: -1})
			u.use(i)
		case len(p.vals) > 0:
			ids := make([]int, len(p.vals))
			for k, v := range p.vals {
				ids[k] = v.column
			}
			t := u.x.columns[u.choose("v"+p.text, p.text, ids)].table
			m := measure{agg: queryplan.Count, table: t, col: -1}
			if col := u.x.quantityColumn(t); col >= 0 { // how many inner tubes: pieces, and not lines
				m.agg, m.col = queryplan.Sum, col
			}
			u.addMeasure(m)
			u.use(i)
		}
	}
}

// verbBetween reports whether a verb parts two pieces: strikers do the Falcons have.
func (u *understanding) verbBetween(a, b int) bool {
	return slices.ContainsFunc(u.toks[u.ps[a].to:u.ps[b].from], func(t token) bool {
		return slices.Contains([]string{"do", "does", "did", "have", "has", "had", "is", "are", "was", "were"}, t.lower)
	})
}

// readAggregated reads `average price`, `total amount of open invoices`.
func (u *understanding) readAggregated(i int) {
	j := u.next(i)
	for u.is(j, pCount, pHarmless) {
		u.use(j)
		j = u.next(j)
	}
	for k := j; k >= 0 && k <= i+5; k = u.next(k) {
		if !u.is(k, pName, pAgg) {
			break
		}
		if u.is(k, pAgg) {
			continue
		}
		if k != j && !(len(u.ps[j].vals) > 0 || u.ps[j].def != nil) {
			break
		}
		if m, ok := u.measureAt(k, u.ps[i].agg); ok && (m.def == nil || m.def.form == daysBetween || u.ps[i].agg == queryplan.Sum || m.def.agg == u.ps[i].agg) {
			if m.col < 0 && m.def == nil {
				break // an average needs a number
			}
			if m.def != nil && m.def.form != daysBetween {
				m.agg = ""
			}
			u.addMeasure(m)
			u.use(i, k)
			return
		}
	}
	if p := u.ps[i]; u.free(j) && u.ps[j].table < 0 && len(u.ps[j].cols) == 0 && len(u.ps[j].vals) == 1 && !u.is(u.next(j), pName) && !pastForm(&u.toks[u.ps[j].from]) {
		// Total refunds: the amount of the rows that the value stands for.
		t := u.x.columns[u.ps[j].vals[0].column].table
		if col := u.x.amountColumn(t); col >= 0 {
			u.addMeasure(measure{agg: p.agg, table: t, col: col})
			u.use(i)
			return
		}
	}
	if u.ps[i].agg == queryplan.Sum && len(u.q.measures) == 0 {
		if m, ok := u.measureAt(j, queryplan.Count); ok && m.col < 0 && m.def == nil && u.x.amountColumn(m.table) < 0 {
			u.addMeasure(m)
			u.use(i, j)
		}
	}
}

// readHowMuch reads `how much tax`, and `how much money is that` of what was counted.
func (u *understanding) readHowMuch(i int) {
	for j := u.next(i); j >= 0 && j <= i+4; j = u.next(j) {
		if m, ok := u.measureAt(j, ""); ok && (m.col >= 0 || m.def != nil) {
			u.addMeasure(m)
			u.use(i, j)
			return
		}
		if !u.is(j, pName, pTotal, pPronoun) {
			break
		}
	}
	if u.q.base < 0 && u.last == nil && !slices.ContainsFunc(u.ps, func(p piece) bool { return p.role == pName || p.role == pUnknown && !moneyVerbs[p.text] }) {
		u.askAmount(i)
		return
	}
	if u.q.base >= 0 && (u.find(i, pTotal, pPronoun) >= 0 || u.find(i, pSumUp) >= 0) {
		if col := u.x.amountColumn(u.q.base); col >= 0 {
			u.addMeasure(measure{agg: queryplan.Sum, table: u.q.base, col: col})
			u.use(i)
			for k := i; k < len(u.ps); k++ {
				if u.is(k, pTotal, pPronoun, pSumUp, pAnd) {
					u.use(k)
				}
			}
		}
	}
}

// askAmount asks which amount is meant where none is named: how much did we make in May.
func (u *understanding) askAmount(i int) {
	var options []measure
	c := choice{key: "measure", about: u.ps[i].text}
	add := func(m measure, text string) {
		if len(options) < maxOptions+2 {
			options = append(options, m)
			c.options = append(c.options, option{len(options) - 1, text})
		}
	}
	for _, d := range u.x.definitions {
		if d.form == aggregateOf && d.agg == queryplan.Sum {
			add(measure{table: d.base, col: -1, def: d}, d.name)
		}
	}
	for t := range u.x.tables {
		if col := u.x.amountColumn(t); col >= 0 {
			add(measure{agg: queryplan.Sum, table: t, col: col}, "the total "+humanName(u.x.columns[col].name)+" of "+plural(humanName(u.x.tableName(t))))
		}
	}
	if len(options) < 2 {
		return
	}
	pick, chosen := u.choices["measure"]
	if !chosen || pick >= len(options) {
		pick = 0
		u.open = append(u.open, c)
	}
	u.addMeasure(options[pick])
	u.use(i)
}

// readBare reads a question that names no measure: orders by month, which customers are on hold.
func (u *understanding) readBare() bool {
	asks := u.find(0, pWhich, pList)
	for i := range u.ps {
		if !u.free(i) || u.is(u.prev(i), pBy, pNot, pNever, pExclude) || asks > i {
			continue
		}
		p := &u.ps[i]
		grouped := u.find(i, pBy) >= 0 || u.find(0, pUnit) >= 0 || u.find(0, pVersus, pCompare) >= 0
		switch {
		case p.table >= 0 && (len(p.cols) == 0 || p.tscore >= p.cols[0].score):
			u.q.base, u.named = p.table, i
			u.use(i)
			if grouped && asks < 0 {
				u.q.measures = []measure{u.countOrAmount(i, p.table)}
			} else {
				u.listing = true
			}
			u.use(asks)
			return true
		case asks >= 0 && !grouped && len(p.cols) > 0 && p.cols[0].score > 0.9 && len(p.vals) == 0 && p.def == nil && !u.x.columns[p.cols[0].id].isNumeric() && u.x.truths[p.cols[0].id] == nil:
			return false // properties of rows, not rows: the other grammar reads them
		case len(p.cols) > 0 && len(p.vals) == 0 && p.def == nil:
			m, ok := u.measureAt(i, "")
			shown := asks < 0 || u.ps[asks].text == "what" || u.ps[asks].role == pList && grouped
			if !ok || !shown || !u.x.summable(m.col) && !grouped {
				continue
			}
			if !u.x.summable(m.col) {
				m.agg = queryplan.Avg
			}
			u.q.base = m.table
			u.q.measures = []measure{m}
			u.use(i, asks)
			return true
		case p.def != nil && !p.def.isMeasure() && p.def.base >= 0 && p.def.noun:
			u.q.base = p.def.base
			if grouped && asks < 0 {
				u.q.measures = []measure{{agg: queryplan.Count, table: p.def.base, col: -1}}
			} else {
				u.listing = true
			}
			u.use(asks)
			return true
		case len(p.vals) == 1 && !u.is(u.next(i), pName):
			t := u.x.columns[p.vals[0].column].table
			if asks >= 0 && asks == u.prev(i) && !grouped && strings.HasSuffix(u.toks[p.to-1].lower, "s") && u.x.rowName(t) >= 0 {
				u.q.base, u.listing = t, true // list the partners: the rows that are such
				u.use(asks)
				return true
			}
			if asks >= 0 || !grouped {
				continue
			}
			u.q.base = t
			u.q.measures = []measure{{agg: queryplan.Count, table: t, col: -1}}
			return true
		}
	}
	return false
}

// massNouns name what is measured rather than counted: sales by region.
var massNouns = wordSet("sale sales revenue usage spend spending cost traffic income consumption turnover expense inventory stock")

// countOrAmount is the number of rows of a table; for what is measured rather than counted it is asked which amount is meant.
func (u *understanding) countOrAmount(i, t int) measure {
	options := []measure{{agg: queryplan.Count, table: t, col: -1}}
	if !massNouns[u.toks[u.ps[i].to-1].lemma] && u.x.tables[t].key >= 0 {
		return options[0]
	}
	c := choice{key: "measure", about: u.ps[i].text, options: []option{{0, "the number of " + plural(humanName(u.x.tableName(t)))}}}
	for _, id := range u.x.tables[t].columns {
		if u.x.summable(id) {
			options = append(options, measure{agg: queryplan.Sum, table: t, col: id})
			c.options = append(c.options, option{len(options) - 1, "the total " + humanName(u.x.columns[id].name)})
		}
	}
	pick, chosen := u.choices["measure"]
	if !chosen && len(options) > 1 {
		u.open = append(u.open, c)
	}
	return options[min(pick, len(options)-1)]
}
