package lift

import (
	"slices"
	"strconv"
	"strings"
)

// A selection is one SELECT as it was written.
type selection struct {
	with     map[string]*selection
	distinct bool
	items    []item
	from     []from
	where    *node
	group    []*node
	having   *node
	order    []ordered
	limit    int // -1: none
	offset   int
	sets     []set
}

type item struct {
	value *node
	alias string
}

// A from is a table or a selection, joined to those before it.
type from struct {
	table, alias string
	sub          *selection
	left         bool
	on           *node
	using        []string
}

type ordered struct {
	value *node
	desc  bool
}

type set struct {
	operation string
	selection *selection
}

type parser struct {
	tokens []token
	next   int
	depth  int
}

func (p *parser) peek() token { return p.ahead(0) }

func (p *parser) ahead(n int) token {
	if p.next+n < len(p.tokens) {
		return p.tokens[p.next+n]
	}
	return token{}
}

func (p *parser) take() token {
	t := p.peek()
	p.next++
	return t
}

// accept takes the next tokens if they are these words or signs.
func (p *parser) accept(words ...string) bool {
	for i, w := range words {
		if !p.ahead(i).is(w) {
			return false
		}
	}
	p.next += len(words)
	return true
}

func (p *parser) expect(word string) {
	if !p.accept(word) {
		refuse("%q stands where %s is expected", p.peek().text, word)
	}
}

// enter bounds how deep a statement is nested.
func (p *parser) enter() func() {
	p.depth++
	if p.depth > maxDepth {
		refuse("it is nested deeper than %d", maxDepth)
	}
	return func() { p.depth-- }
}

func (p *parser) statement() *selection {
	defer p.enter()()
	with := map[string]*selection{}
	if p.accept("with") {
		if p.accept("recursive") {
			refuse("it is recursive")
		}
		for {
			name := p.name()
			p.expect("as")
			p.accept("not")
			p.accept("materialized")
			p.expect("(")
			with[strings.ToLower(name)] = p.statement()
			p.expect(")")
			if !p.accept(",") {
				break
			}
		}
	}
	s := p.one()
	s.with = with
	for {
		op := ""
		for _, w := range []string{"union", "intersect", "except"} {
			if p.accept(w) {
				op = w
			}
		}
		if op == "" {
			break
		}
		if p.accept("all") {
			op += " all"
		} else {
			p.accept("distinct")
		}
		s.sets = append(s.sets, set{op, p.one()})
	}
	p.tail(s)
	return s
}

// one reads a SELECT without its order, or a whole one in brackets.
func (p *parser) one() *selection {
	if p.accept("(") {
		s := p.statement()
		p.expect(")")
		return s
	}
	p.expect("select")
	s := &selection{limit: -1}
	s.distinct = p.accept("distinct")
	if s.distinct && p.peek().is("on") {
		refuse("DISTINCT ON is no part of a plan")
	}
	p.accept("all")
	for {
		s.items = append(s.items, p.item())
		if !p.accept(",") {
			break
		}
	}
	if p.accept("from") {
		p.sources(s)
	}
	if p.accept("where") {
		s.where = p.condition()
	}
	if p.accept("group", "by") {
		s.group = p.list()
	}
	if p.accept("having") {
		s.having = p.condition()
	}
	return s
}

// tail reads ORDER BY and LIMIT.
func (p *parser) tail(s *selection) {
	if p.accept("order", "by") {
		for {
			o := ordered{value: p.condition()}
			if p.accept("desc") {
				o.desc = true
			} else {
				p.accept("asc")
			}
			if p.accept("nulls") {
				p.take()
			}
			s.order = append(s.order, o)
			if !p.accept(",") {
				break
			}
		}
	}
	if p.accept("limit") {
		n, err := strconv.Atoi(p.take().text)
		if err != nil {
			refuse("its limit is no number")
		}
		s.limit = n
	}
	if p.accept("offset") {
		n, err := strconv.Atoi(p.take().text)
		if err != nil || n > 0 && (s.limit < 0 || len(s.order) == 0) {
			refuse("it skips rows without an order and a limit")
		}
		s.offset = n
	}
	if p.accept("fetch", "first") || p.accept("fetch", "next") {
		n, err := strconv.Atoi(p.take().text)
		if err != nil {
			refuse("its limit is no number")
		}
		s.limit = n
		p.take()
		p.expect("only")
	}
}

func (p *parser) item() item {
	if p.accept("*") {
		return item{value: &node{op: opStar}}
	}
	it := item{value: p.condition()}
	switch t := p.peek(); {
	case p.accept("as"):
		it.alias = p.take().text
	case t.kind == nameToken || t.kind == wordToken && !endsItem[strings.ToLower(t.text)]:
		it.alias = p.take().text
	}
	return it
}

// endsItem are the keywords that follow a value or a table and are no alias of it.
var endsItem = wordSet("from where group having order limit offset fetch union intersect except join inner left right full cross natural on using asc desc nulls and or not as window qualify collate")

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func (p *parser) sources(s *selection) {
	s.from = append(s.from, p.source())
	for {
		left := false
		switch {
		case p.accept(","), p.accept("cross", "join"):
		case p.accept("join"), p.accept("inner", "join"):
		case p.accept("left", "join"), p.accept("left", "outer", "join"):
			left = true
		default:
			for _, w := range []string{"right", "full", "natural", "lateral", "semi", "anti", "asof"} {
				if p.peek().is(w) {
					refuse("a plan has no %s join", w)
				}
			}
			return
		}
		f := p.source()
		f.left = left
		if p.accept("on") {
			f.on = p.condition()
		} else if p.accept("using", "(") {
			for {
				f.using = append(f.using, p.name())
				if !p.accept(",") {
					break
				}
			}
			p.expect(")")
		}
		s.from = append(s.from, f)
	}
}

func (p *parser) source() from {
	var f from
	if p.accept("(") {
		f.sub = p.statement()
		p.expect(")")
	} else {
		parts := []string{p.name()}
		for p.accept(".") {
			parts = append(parts, p.name())
		}
		f.table = parts[len(parts)-1]
		if p.peek().is("(") {
			refuse("it reads a function as a table")
		}
	}
	p.accept("as")
	if t := p.peek(); t.kind == nameToken || t.kind == wordToken && !endsItem[strings.ToLower(t.text)] {
		f.alias = p.take().text
	}
	return f
}

func (p *parser) name() string {
	t := p.take()
	if t.kind != wordToken && t.kind != nameToken {
		refuse("%q stands where a name is expected", t.text)
	}
	return t.text
}

func (p *parser) list() []*node {
	out := []*node{p.condition()}
	for p.accept(",") {
		out = append(out, p.condition())
	}
	return slices.Clip(out)
}
