// Package internal_test holds the tree to its structure: who may import whom, how
// large a thing may be, and what the heart must not know. It reads sources and
// builds nothing.
package internal_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"interlock/internal/machine"
	"interlock/internal/toolbox"
	"interlock/machines"
)

const (
	module     = "interlock/"
	maxMethods = 5
	maxLines   = 500
)

// layers is the architecture: every package with what it may import of this program,
// in the order in which they stand on each other. A row names rows above it only, so
// that imports point one way. Packages named *test and aimock serve tests: as no row
// names them, nothing that ships can import them. docs/design.md draws the table.
var layers = []struct {
	pkg string
	may []string
}{
	{"internal", nil},
	{"internal/racetest", nil},
	{"internal/fault", nil},
	{"internal/audit", []string{"internal/fault"}},
	{"internal/schema", []string{"internal/fault"}},
	{"internal/chart", []string{"internal/fault", "internal/schema"}},
	{"internal/report", []string{"internal/chart", "internal/fault", "internal/schema"}},
	{"internal/jail", nil},
	{"internal/figure", []string{"internal/schema"}},
	{"internal/embed", nil},
	{"internal/document", []string{"internal/fault", "internal/jail"}},
	{"internal/document/documenttest", nil},
	{"internal/demo", []string{"internal/fault"}},
	{"internal/event", []string{"internal/fault", "internal/figure", "internal/schema"}},
	{"internal/dialect", []string{"internal/schema"}},
	{"internal/queryplan", []string{"internal/dialect", "internal/fault", "internal/schema"}},
	{"internal/queryplan/lift", []string{"internal/queryplan", "internal/schema"}},
	{"internal/meaning", []string{"internal/fault", "internal/queryplan", "internal/schema"}},
	{"internal/nlq", []string{"internal/queryplan", "internal/schema"}},

	{"internal/retrieve", []string{"internal/document", "internal/embed", "internal/fault", "internal/nlq", "internal/schema"}},
	{"internal/retrieve/retrievetest", []string{"internal/retrieve", "internal/schema"}},

	{"internal/machine", []string{"internal/fault", "internal/figure"}},
	{"internal/tool", []string{"internal/event", "internal/fault"}},
	{"internal/llm", []string{"internal/event", "internal/fault", "internal/nlq"}},
	{"internal/llm/aimock", nil},
	{"internal/store", []string{"internal/audit", "internal/event", "internal/fault"}},
	{"internal/store/storetest", []string{"internal/audit", "internal/event", "internal/fault", "internal/figure", "internal/store"}},
	{"internal/artifact", []string{"internal/event", "internal/fault"}},

	{"internal/sqlpolicy", []string{"internal/dialect", "internal/fault", "internal/schema"}},
	{"internal/query", []string{"internal/dialect", "internal/fault", "internal/jail", "internal/schema", "internal/sqlpolicy"}},
	{"internal/recon", []string{"internal/fault", "internal/query", "internal/schema"}},
	{"internal/sandbox", []string{"internal/fault", "internal/jail", "internal/schema"}},
	{"internal/source", []string{"internal/dialect", "internal/fault", "internal/jail", "internal/query", "internal/schema", "internal/sqlpolicy"}},
	{"internal/queryplan/queryplantest", []string{"internal/queryplan", "internal/schema"}},
	{"internal/source/sourcetest", []string{"internal/fault", "internal/query", "internal/schema", "internal/source"}},
	{"internal/catalog", []string{"internal/dialect", "internal/fault", "internal/query", "internal/schema", "internal/source", "internal/sqlpolicy"}},

	{"internal/engine", []string{"internal/event", "internal/fault", "internal/figure", "internal/llm", "internal/machine", "internal/store", "internal/tool"}},
	{"internal/capsule", []string{"internal/engine", "internal/event", "internal/fault", "internal/figure", "internal/llm", "internal/machine", "internal/store", "internal/tool"}},
	{"internal/retention", []string{"internal/artifact", "internal/fault", "internal/store"}},
	{"internal/eval", []string{"internal/demo", "internal/engine", "internal/machine"}},
	{"internal/engine/enginetest", []string{"internal/capsule", "internal/engine", "internal/event", "internal/fault", "internal/llm", "internal/machine", "internal/store", "internal/tool"}},

	{"internal/toolbox", []string{"internal/chart", "internal/dialect", "internal/event", "internal/fault", "internal/figure", "internal/nlq", "internal/queryplan", "internal/queryplan/lift", "internal/recon", "internal/report", "internal/schema", "internal/sqlpolicy", "internal/tool"}},
	{"internal/server", []string{"internal/artifact", "internal/audit", "internal/engine", "internal/event", "internal/fault", "internal/llm", "internal/machine", "internal/schema", "internal/store"}},
	{"internal/data", []string{"internal/artifact", "internal/capsule", "internal/catalog", "internal/dialect", "internal/document", "internal/event", "internal/fault", "internal/meaning", "internal/nlq", "internal/query", "internal/queryplan", "internal/recon", "internal/retrieve", "internal/sandbox", "internal/schema", "internal/server", "internal/sqlpolicy", "internal/store", "internal/tool", "internal/toolbox"}},

	{"internal/mcpbridge", []string{"internal/event", "internal/fault", "internal/tool"}},

	{"internal/mcpserver", []string{"internal/engine", "internal/event", "internal/fault", "internal/tool"}},

	{"machines", nil},
	{"web", nil},
	{"web/e2e", []string{"web"}},
}

// coming are the packages that have a row and are not written yet.
var coming = []string{}

// notForCommands are the packages that cmd/interlock must not import: what needs the
// meaning of a statement, a plan or a dialect is no command, and belongs to data.
var notForCommands = []string{"internal/dialect", "internal/nlq", "internal/queryplan", "internal/sqlpolicy"}

// programs stand on top and may import everything; cmd/interlock/system.go is the one
// place that puts all parts together.
var programs = []string{"cmd/interlock", "bench", "scripts/testreport"}

// duckFree are the packages that must build and be tested without DuckDB.
var duckFree = []string{"dialect", "engine", "event", "llm", "machine", "meaning", "nlq", "queryplan", "schema", "tool"}

const duckDB = "github.com/duckdb/"

// nameless are the packages that know no machine, state or tool by name.
var nameless = []string{"internal/engine", "internal/machine", "internal/server"}

// otherwise are names of shipped states and machines that are words of their own in
// these packages.
var otherwise = map[string]string{
	"analyst":     "a role of users",
	"assistant":   "a role of messages",
	"error":       "a key of results and a severity of findings",
	"load_scoped": "a route of the API",
}

// ownWords are words of tool names that the nameless packages have a meaning of their
// own for. Any other word of a tool's name in a code means that tool.
var ownWords = []string{
	"answer", "check", "dataset", "datasets", "describe", "execute", "execution", "get", "list", "load", "plan", "query", "question", "request", "result", "run",
	"schema", "source", "sources", "tables", "tool", "write",
}

// A source is a Go file that is no test.
type source struct {
	path  string // from the root, with slashes
	lines int
	file  *ast.File
}

// tree reads every Go package of the module, by folder.
func tree(t *testing.T) map[string][]source {
	t.Helper()
	pkgs := map[string][]source{}
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(name, ".."+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != ".." && skipped(name, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(rel)
		pkgs[dir] = append(pkgs[dir], source{rel, fset.File(f.Package).LineCount() - 1, f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

// skipped folders hold no packages of this module.
func skipped(name, base string) bool {
	if strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" {
		return true
	}
	own, _ := filepath.Glob(filepath.Join(name, "go.mod"))
	return len(own) > 0
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func TestImportsPointDown(t *testing.T) {
	pkgs := tree(t)
	above := map[string]bool{}
	may := map[string][]string{}
	for _, row := range layers {
		for _, p := range row.may {
			if !above[p] {
				t.Errorf("the table lets %s import %s, which does not stand below it", row.pkg, p)
			}
		}
		if above[row.pkg] {
			t.Errorf("%s stands twice in the table", row.pkg)
		}
		switch exists, marked := pkgs[row.pkg] != nil, slices.Contains(coming, row.pkg); {
		case !exists && !marked:
			t.Errorf("%s stands in the table but does not exist", row.pkg)
		case exists && marked:
			t.Errorf("%s exists: take it out of the list of what is coming", row.pkg)
		}
		above[row.pkg], may[row.pkg] = true, row.may
	}
	for _, pkg := range sorted(pkgs) {
		if slices.Contains(programs, pkg) {
			continue
		}
		if !above[pkg] {
			t.Errorf("%s is not in the table: give it a row between what it imports and what imports it", pkg)
			continue
		}
		for _, src := range pkgs[pkg] {
			for _, imp := range imports(src.file) {
				if own, ok := strings.CutPrefix(imp, module); ok && !slices.Contains(may[pkg], own) {
					t.Errorf("%s imports %s, which the table does not allow %s", src.path, own, pkg)
				}
			}
		}
	}
}

// TestCommandsOnlyWire keeps domain logic out of the program.
func TestCommandsOnlyWire(t *testing.T) {
	for _, src := range tree(t)["cmd/interlock"] {
		for _, imp := range imports(src.file) {
			if own, ok := strings.CutPrefix(imp, module); ok && slices.Contains(notForCommands, own) {
				t.Errorf("%s imports %s: move what needs it to internal/data", src.path, own)
			}
		}
	}
}

func imports(f *ast.File) []string {
	out := make([]string, len(f.Imports))
	for i, spec := range f.Imports {
		out[i], _ = strconv.Unquote(spec.Path.Value)
	}
	return out
}

func TestOnePackageComment(t *testing.T) {
	pkgs := tree(t)
	for _, pkg := range sorted(pkgs) {
		var in []string
		for _, src := range pkgs[pkg] {
			if src.file.Doc != nil {
				in = append(in, path.Base(src.path))
			}
		}
		if len(in) != 1 {
			t.Errorf("%s has %d package comments %v, want 1", pkg, len(in), in)
		}
	}
}

func TestInterfacesAreSmall(t *testing.T) {
	for _, files := range tree(t) {
		for _, src := range files {
			for _, decl := range src.file.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range gen.Specs {
					ts, ok := spec.(*ast.TypeSpec)
					if !ok || !ts.Name.IsExported() {
						continue
					}
					if n := ownMethods(ts.Type); n > maxMethods {
						t.Errorf("%s: the interface %s has %d methods, at most %d are allowed", src.path, ts.Name, n, maxMethods)
					}
				}
			}
		}
	}
}

// ownMethods counts the methods that an interface names itself, without those of
// interfaces that it embeds.
func ownMethods(x ast.Expr) int {
	it, ok := x.(*ast.InterfaceType)
	if !ok {
		return 0
	}
	n := 0
	for _, m := range it.Methods.List {
		if _, isFunc := m.Type.(*ast.FuncType); isFunc {
			n += len(m.Names)
		}
	}
	return n
}

func TestFilesAreShort(t *testing.T) {
	for _, files := range tree(t) {
		for _, src := range files {
			if src.lines > maxLines {
				t.Errorf("%s has %d lines, at most %d are allowed: split it by concept", src.path, src.lines, maxLines)
			}
		}
	}
}

// TestHeartKnowsNoNames looks for names of shipped machines, states and built-in tools
// in the texts, the identifiers and the fault codes of the packages that must know none.
func TestHeartKnowsNoNames(t *testing.T) {
	names := shippedNames(t)
	for word := range otherwise {
		if names[word] == "" {
			t.Errorf("%q is excused but no longer the name of anything shipped", word)
		}
		delete(names, word)
	}
	words := toolWords(t)
	pkgs := tree(t)
	for _, pkg := range nameless {
		for _, src := range pkgs[pkg] {
			for _, found := range namesIn(src.file, names, words) {
				t.Errorf("%s: %s", src.path, found)
			}
		}
	}
}

// TestNamesAreFound shows that the test above finds each kind of name.
func TestNamesAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		`x := "execute_sql"`: true, `x := "calls execute_sql first"`: true, `x := "answering"`: true, `executeSQL()`: true, `x.RunPython = 1`: true,
		`_ = fault.EmptyPythonRetried`: true, `_ = fault.SQLPolicy`: true, `workbench := 1`: true,
		`x := "still answering you"`: false, `executeCall()`: false, `given := 1`: false, `_ = fault.DatasetNotFound`: false, `_ = fault.ToolNotAllowed`: false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() {\n"+text+"\n}\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		if found := namesIn(file, shippedNames(t), toolWords(t)); (len(found) > 0) != want {
			t.Errorf("%s: found %q", text, found)
		}
	}
}

// namesIn finds names in a file. In a text a plain word must be the whole text, and a
// name with an underscore is found inside as well. An identifier may be no machine and
// hold no name of several words; single words of states are ordinary ones. A fault code may hold no word that only tools have.
func namesIn(f *ast.File, names map[string]string, words []string) []string {
	var out []string
	word := regexp.MustCompile(`[A-Za-z0-9_]+`)
	for _, text := range literals(f) {
		found := names[text]
		for _, w := range word.FindAllString(text, -1) {
			if strings.Contains(w, "_") {
				found = cmp.Or(found, names[w])
			}
		}
		if found != "" {
			out = append(out, strconv.Quote(text)+" names "+found)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Ident:
			own := snakeCase(x.Name)
			for name, what := range names {
				if own == name && strings.HasPrefix(what, "the machine ") || strings.Contains(name, "_") && strings.Contains("_"+own+"_", "_"+name+"_") {
					out = append(out, x.Name+" names "+what)
				}
			}
		case *ast.SelectorExpr:
			if pkg, ok := x.X.(*ast.Ident); ok && pkg.Name == "fault" {
				for w := range strings.SplitSeq(snakeCase(x.Sel.Name), "_") {
					if slices.Contains(words, w) {
						out = append(out, "the code fault."+x.Sel.Name+" is about the tools named "+w)
					}
				}
			}
		}
		return true
	})
	return out
}

// snakeCase writes an identifier as names of tools are written: SQLPolicy is sql_policy.
func snakeCase(name string) string {
	parts := regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`).FindAllString(name, -1)
	for i, part := range parts {
		// The last capital of several begins the next word, unless the word ends with them.
		if caps := len(part) - len(strings.TrimLeft(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")); caps > 1 && caps < len(part) {
			part = part[:caps-1] + "_" + part[caps-1:]
		}
		parts[i] = strings.ToLower(part)
	}
	return strings.Join(parts, "_")
}

// toolWords are the words of the built-in tools' names that mean nothing else.
func toolWords(t *testing.T) []string {
	t.Helper()
	var words []string
	for _, tool := range toolbox.Tools(toolbox.Config{}) {
		words = append(words, strings.Split(tool.Spec().Name, "_")...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	for _, own := range ownWords {
		if !slices.Contains(words, own) {
			t.Errorf("%q is excused but no longer a word of any tool's name", own)
		}
	}
	return slices.DeleteFunc(words, func(w string) bool { return slices.Contains(ownWords, w) })
}

// literals lists the texts of a file, without those of imports and tags.
func literals(f *ast.File) []string {
	var out []string
	tags := map[*ast.BasicLit]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			tags[x.Tag] = true
		case *ast.BasicLit:
			if text, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING && !tags[x] {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

// shippedNames gives the names of machines, states and tools, with what each is.
func shippedNames(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, tool := range toolbox.Tools(toolbox.Config{}) {
		names[tool.Spec().Name] = "the tool " + tool.Spec().Name
	}
	for name, dir := range machines.All() {
		m, err := machine.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		names[name] = "the machine " + name
		for _, st := range m.States {
			names[st.Name] = "the state " + st.Name + " of " + name
		}
	}
	return names
}

func TestHeartIsFreeOfDuckDB(t *testing.T) {
	if !reaches(t, "query", duckDB) {
		t.Fatalf("internal/query does not import %s: this test looks for the wrong name", duckDB)
	}
	for _, pkg := range duckFree {
		if reaches(t, pkg, duckDB) {
			t.Errorf("internal/%s imports %s by some way", pkg, duckDB)
		}
	}
}

// reaches says whether a package imports, by any way, one with the prefix.
func reaches(t *testing.T, pkg, prefix string) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+pkg).Output()
	if err != nil {
		t.Fatalf("go list %s: %v", pkg, err)
	}
	return slices.ContainsFunc(strings.Fields(string(out)), func(p string) bool { return strings.HasPrefix(p, prefix) })
}
