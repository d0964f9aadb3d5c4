package sqlpolicy

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"

	"interlock/internal/dialect"
	"interlock/internal/fault"
)

// A Parser is the engine as this package needs it: both answers are the JSON that
// the engine itself writes. Tree parses and binds nothing; Plan binds against the
// data and is only asked about a text whose tree was allowed.
type Parser interface {
	Tree(ctx context.Context, sql string) ([]byte, error)
	Plan(ctx context.Context, sql string) ([]byte, error)
}

// A Scope is what statements may touch. Version names the state of the data:
// a decision is remembered for a scope with the same version only.
type Scope struct {
	Version string
	Dialect dialect.Dialect // of the engine that runs them
	Schema  string          // of the tables in another engine; statements may write it before their names
	Alias   string          // `alias.table` is read as `table`
	Tables  []Table
	Params  int // values that come with the statement, for $1, $2 …; whoever writes the text cannot bring any
}

// Limits bound a statement before it is planned, because planning cannot be
// interrupted. Zero fields are the defaults.
type Limits struct {
	Bytes    int // 64 KiB
	Brackets int // open at once, 200
	Nodes    int // of the tree, 5000
	Depth    int // of the tree, 80
	Tables   int // references, 50
	Lambdas  int // nested, 4
}

func (l Limits) orDefault() Limits {
	return Limits{
		Bytes:    cmp.Or(l.Bytes, 64<<10),
		Brackets: cmp.Or(l.Brackets, 200),
		Nodes:    cmp.Or(l.Nodes, 5000),
		Depth:    cmp.Or(l.Depth, 80),
		Tables:   cmp.Or(l.Tables, 50),
		Lambdas:  cmp.Or(l.Lambdas, 4),
	}
}

// Config of a Policy. The zero value is the default.
type Config struct {
	Limits Limits
	Cache  int // decisions remembered, 4096
}

// A Policy decides. It may be used by many goroutines at once.
type Policy struct {
	limits Limits
	cache  *cache
}

// New makes a Policy.
func New(c Config) *Policy {
	return &Policy{limits: c.Limits.orDefault(), cache: newCache(cmp.Or(c.Cache, 4096))}
}

// A Judge is an engine that decides about a statement itself, while it prepares the
// statement, by telling what it is about to read and to call. A refusal is made by [Refuse].
type Judge interface {
	Judge(ctx context.Context, scope Scope, sql string) (Decision, error)
}

// CheckBy has the engine decide that will run the statement, within the bounds of the
// policy. Its decision is about the data of this moment and is not remembered.
func (p *Policy) CheckBy(ctx context.Context, judge Judge, scope Scope, sql string) (Decision, error) {
	if err := checkText(sql, p.limits); err != nil {
		if denied, ok := errors.AsType[*denial](err); ok {
			return Decision{}, denied.fault(sql)
		}
		return Decision{}, err
	}
	return judge.Judge(ctx, scope, sql)
}

// Seen gives the decision of an earlier Check of the same text in the same scope,
// allowed or refused. It needs no parser.
func (p *Policy) Seen(scope Scope, sql string) (Decision, bool, error) {
	v, ok := p.cache.get(p.key(scope, sql))
	return v.decision, ok, v.err
}

// Check decides about one statement. An error is a *fault.Fault: a refusal, a
// statement that cannot be read (sql_error), or whatever the parser reports.
func (p *Policy) Check(ctx context.Context, parser Parser, scope Scope, sql string) (Decision, error) {
	key := p.key(scope, sql)
	if v, ok := p.cache.get(key); ok {
		return v.decision, v.err
	}
	d, err := p.decide(ctx, parser, scope, sql)
	if denied, ok := errors.AsType[*denial](err); ok {
		err = denied.fault(sql)
	}
	if err == nil || fault.Is(err, fault.SQLPolicy) || fault.Is(err, fault.SQLError) {
		p.cache.store(key, verdict{d, err})
	}
	return d, err
}

func (p *Policy) decide(ctx context.Context, parser Parser, scope Scope, sql string) (Decision, error) {
	if err := checkText(sql, p.limits); err != nil {
		return Decision{}, err
	}
	if scope.remote() {
		return p.decideRemote(ctx, parser, scope, sql)
	}
	text := cutSemicolon(sql)
	r, err := p.walkText(ctx, parser, scope, text)
	if err != nil {
		return Decision{}, err
	}
	if len(r.edits) > 0 {
		if text, err = p.unqualify(text, scope, r.edits); err != nil {
			return Decision{}, err
		}
		// What runs is what was read: the changed text is read again, and now the
		// dataset's name is no qualifier any more.
		scope.Alias = ""
		if r, err = p.walkText(ctx, parser, scope, text); err != nil {
			return Decision{}, err
		}
	}
	plan, err := parser.Plan(ctx, text)
	if err != nil {
		return Decision{}, err
	}
	touches, err := checkPlan(string(plan), text, scope, r)
	if err != nil {
		return Decision{}, err
	}
	return Decision{SQL: text, Touches: touches, Functions: r.functionNames(), Volatile: r.volatile, HasLimit: r.limit, Limit: r.limitRows, HasOrder: r.order, Form: r.form, Lineage: r.lineage}, nil
}

// decideRemote decides about a statement that another engine will run.
func (p *Policy) decideRemote(ctx context.Context, parser Parser, scope Scope, sql string) (Decision, error) {
	rules, ok := RulesFor(scope.Dialect)
	switch {
	case !ok:
		return Decision{}, fault.New(fault.Internal, "no statements may run in %s", scope.Dialect.Title())
	case rules.byEngine:
		return Decision{}, fault.New(fault.Internal, "statements for %s are judged by the engine itself", scope.Dialect.Title())
	case rules.grammar != nil:
		d, err := rules.grammar.judge(scope, sql, p.limits)
		if err == nil {
			d.Lineage = remoteLineage(ctx, parser, scope, rules, sql)
		}
		return d, err
	}
	return p.decideByTokens(ctx, parser, scope, rules, sql)
}

// walkText parses and walks one text.
func (p *Policy) walkText(ctx context.Context, parser Parser, scope Scope, sql string) (*reading, error) {
	tree, err := parser.Tree(ctx, sql)
	if err != nil {
		return nil, err
	}
	return checkTree(string(tree), sql, scope, p.limits)
}

func (p *Policy) unqualify(sql string, scope Scope, edits []edit) (string, error) {
	text, ok := applyEdits(sql, scope.Alias, edits)
	if !ok {
		return "", deny(RuleTable, edits[0].at, "Write the table names without the dataset's name.",
			"The dataset's name before a table cannot be taken away here.")
	}
	return text, nil
}

func (p *Policy) key(scope Scope, sql string) key {
	var h maphash.Hash
	h.SetSeed(p.cache.seed)
	h.WriteString(scope.Alias)
	if scope.remote() {
		h.WriteString(scope.Dialect.String() + "\x02" + scope.Schema)
	}
	for _, t := range scope.Tables {
		h.WriteByte(0)
		h.WriteString(t.Name)
		for _, c := range t.Columns {
			h.WriteByte(1)
			h.WriteString(c)
		}
	}
	return key{scope.Version, sql, h.Sum64(), scope.Params}
}
