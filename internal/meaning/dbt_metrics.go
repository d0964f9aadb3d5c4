package meaning

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A dbtMeasure is an aggregate of one table. Newer manifests have it inside of its metric.
type dbtMeasure struct {
	Name             string          `json:"name"`
	Agg              string          `json:"agg"`
	Expr             string          `json:"expr"`
	AggTimeDimension string          `json:"agg_time_dimension"`
	NonAdditive      json.RawMessage `json:"non_additive_dimension"`
	SemanticModel    string          `json:"semantic_model"`
	AggParams        struct {
		Percentile float64 `json:"percentile"`
	} `json:"agg_params"`

	table   *schema.Table
	counted bool // by the main date of its table
}

type dbtMetric struct {
	Name        string    `json:"name"`
	Label       string    `json:"label"`
	Description string    `json:"description"`
	Type        string    `json:"type"`
	Filter      dbtFilter `json:"filter"`
	TypeParams  struct {
		Measure     *dbtInput   `json:"measure"`
		Aggregation *dbtMeasure `json:"metric_aggregation_params"`
		Numerator   *dbtInput   `json:"numerator"`
		Denominator *dbtInput   `json:"denominator"`
		Expr        string      `json:"expr"`
		Metrics     []dbtInput  `json:"metrics"`
	} `json:"type_params"`
}

// A dbtInput names a measure or a metric inside of another metric.
type dbtInput struct {
	Name          string          `json:"name"`
	Alias         string          `json:"alias"`
	Filter        dbtFilter       `json:"filter"`
	OffsetWindow  json.RawMessage `json:"offset_window"`
	OffsetToGrain json.RawMessage `json:"offset_to_grain"`
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// A dbtValue is a metric on its way to an expression.
type dbtValue struct {
	expr   queryplan.Expr
	tables []string // whose rows it counts or adds up
	dates  []string // time dimensions that are not the main date of their table
}

// A dbtReason says why a metric cannot be taken over.
type dbtReason string

func (r dbtReason) Error() string { return string(r) }

func notTaken(format string, args ...any) error { return dbtReason(fmt.Sprintf(format, args...)) }

func (im *dbtImport) metrics(list []dbtMetric) {
	for _, m := range list {
		im.byName[m.Name] = m
	}
	for _, m := range list {
		v, err := im.metricValue(m, nil)
		text := queryplan.MetricText(v.expr)
		if err == nil && text == "" {
			err = notTaken("it cannot be written as an expression")
		}
		if err != nil {
			im.draft.Head = append(im.draft.Head, fmt.Sprintf("The metric %s is left out: %s.", m.Name, err))
			continue
		}
		metric := schema.Metric{Name: m.Name, Expression: text, Description: m.Description, Table: v.tables[0]}
		if m.Label != "" && !strings.EqualFold(m.Label, m.Name) {
			metric.Synonyms = []string{m.Label}
		}
		because := "the " + m.Type + " metric of dbt"
		if len(v.dates) > 0 {
			because += "; there it counts by " + strings.Join(v.dates, " and ") + ", here by the main date of its table"
		}
		im.draft.Metrics = append(im.draft.Metrics, DraftMetric{Metric: metric, Because: because})
	}
}

// metricValue writes a metric of dbt as a value; inside are the metrics that it is part of.
func (im *dbtImport) metricValue(m dbtMetric, inside []string) (dbtValue, error) {
	if slices.Contains(inside, m.Name) {
		return dbtValue{}, notTaken("it is part of itself")
	}
	inside = append(slices.Clone(inside), m.Name)
	p := m.TypeParams
	var v dbtValue
	var err error
	switch {
	case m.Type == "simple" && p.Measure != nil && p.Measure.Name != "":
		v, err = im.inputValue(*p.Measure, inside)
	case m.Type == "simple" && p.Aggregation != nil:
		x := *p.Aggregation
		x.Name, x.table, x.counted = m.Name, im.tables[x.SemanticModel], true
		v, err = x.value()
	case m.Type == "ratio" && p.Numerator != nil && p.Denominator != nil:
		var other dbtValue
		if v, err = im.inputValue(*p.Numerator, inside); err == nil {
			other, err = im.inputValue(*p.Denominator, inside)
		}
		if err == nil {
			v, err = v.with(other, queryplan.Expr{Math: &queryplan.Math{Operator: queryplan.Divide, Left: v.expr, Right: other.expr}})
		}
	case m.Type == "derived":
		v, err = im.derivedValue(m, inside)
	default:
		return v, notTaken("metrics of the type %s are not supported", m.Type)
	}
	if err != nil {
		return v, err
	}
	return im.filtered(v, m.Filter)
}

// inputValue finds what an input names: a metric, or a measure.
func (im *dbtImport) inputValue(in dbtInput, inside []string) (v dbtValue, err error) {
	if isSet(in.OffsetWindow) || isSet(in.OffsetToGrain) {
		return v, notTaken("%s is taken from another period", in.Name)
	}
	metric, isMetric := im.byName[in.Name]
	measure, isMeasure := im.measures[in.Name]
	switch {
	case isMeasure && (!isMetric || slices.Contains(inside, in.Name)): // a metric may have the name of its measure
		v, err = measure.value()
	case isMetric:
		if v, err = im.metricValue(metric, inside); err != nil {
			err = notTaken("in %s: %s", in.Name, err)
		}
	default:
		err = notTaken("%s is of no table of this dataset", in.Name)
	}
	if err != nil {
		return v, err
	}
	return im.filtered(v, in.Filter)
}

// derivedValue computes with other metrics, under their names or aliases.
func (im *dbtImport) derivedValue(m dbtMetric, inside []string) (v dbtValue, err error) {
	formula, err := queryplan.ParseField(m.TypeParams.Expr)
	if err != nil {
		return v, notTaken("its expression %q: %s", m.TypeParams.Expr, err)
	}
	var failed error
	v.expr = queryplan.MapColumns(formula, func(e queryplan.Expr) queryplan.Expr {
		i := slices.IndexFunc(m.TypeParams.Metrics, func(in dbtInput) bool { return strings.EqualFold(cmp.Or(in.Alias, in.Name), e.Column) })
		if i < 0 {
			failed = cmp.Or(failed, notTaken("its expression names %s, which is none of its metrics", e.Column))
			return e
		}
		part, err := im.inputValue(m.TypeParams.Metrics[i], inside)
		if err == nil {
			v, err = v.with(part, queryplan.Expr{})
		}
		failed = cmp.Or(failed, err)
		return part.expr
	})
	if failed == nil && len(v.tables) == 0 {
		failed = notTaken("its expression names no metric")
	}
	return v, failed
}

// with joins two values. Rows of two tables cannot be counted in one expression without saying
// whose they are.
func (v dbtValue) with(o dbtValue, expr queryplan.Expr) (dbtValue, error) {
	out := dbtValue{expr: expr, tables: slices.Clone(v.tables), dates: slices.Clone(v.dates)}
	for _, t := range o.tables {
		if !slices.Contains(out.tables, t) {
			out.tables = append(out.tables, t)
		}
	}
	for _, d := range o.dates {
		if !slices.Contains(out.dates, d) {
			out.dates = append(out.dates, d)
		}
	}
	if len(out.tables) > 1 {
		return out, notTaken("it counts rows of %s", strings.Join(out.tables, " and "))
	}
	return out, nil
}

// value writes a measure as an aggregate; its columns carry their table.
func (x dbtMeasure) value() (dbtValue, error) {
	agg, body := strings.ToLower(x.Agg), cmp.Or(x.Expr, x.Name)
	text := map[string]string{
		"sum": "SUM(%s)", "average": "AVG(%s)", "avg": "AVG(%s)", "min": "MIN(%s)", "max": "MAX(%s)", "median": "MEDIAN(%s)",
		"count": "COUNT(%s)", "count_distinct": "COUNT(DISTINCT %s)", "sum_boolean": "COUNT(*) FILTER (WHERE %s)",
	}[agg]
	if agg == "percentile" && x.AggParams.Percentile == 0.5 {
		text = "MEDIAN(%s)"
	}
	switch {
	case x.table == nil:
		return dbtValue{}, notTaken("%s is of no table of this dataset", x.Name)
	case isSet(x.NonAdditive):
		return dbtValue{}, notTaken("%s may not be added up over every dimension", x.Name)
	case text == "":
		return dbtValue{}, notTaken("the measure %s (%s of %s) is not supported", x.Name, x.Agg, body)
	}
	e, err := queryplan.ParseMetric(fmt.Sprintf(text, body))
	if err == nil && (!e.Aggregate() || e.Math != nil && e.Function == "") { // a bracket closed what it did not open
		err = notTaken("it is no value of a row")
	}
	if err != nil {
		return dbtValue{}, notTaken("the measure %s (%s of %s) is not supported: %s", x.Name, x.Agg, body, err)
	}
	v := dbtValue{expr: inTable(e, x.table.Name), tables: []string{x.table.Name}}
	if !x.counted {
		v.dates = []string{x.AggTimeDimension}
	}
	return v, nil
}

// inTable writes the table before columns that have none.
func inTable(e queryplan.Expr, table string) queryplan.Expr {
	return queryplan.MapColumns(e, func(e queryplan.Expr) queryplan.Expr {
		if !strings.Contains(e.Column, ".") {
			e.Column = table + "." + e.Column
		}
		return e
	})
}
