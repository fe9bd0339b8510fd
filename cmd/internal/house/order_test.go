package house

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shape is how far a package is from being read from its first file to its last.
type shape struct {
	// upward counts the pairs of files of which one uses a function, a type, a constant or a variable of the other, which is read after it.
	upward int
	// methods are those of the machine itself, or of the planner; its parts have theirs.
	methods int
}

// shapes are of the packages whose doc.go lists their files in reading order. Lower a number here when the code gets there.
var shapes = map[string]shape{
	"actors/binding":         {upward: 4, methods: 77},
	"actors/cluster":         {upward: 0, methods: 72},
	"actors/governor":        {upward: 4, methods: 21},
	"actors/scheduler":       {upward: 0, methods: 34},
	"actors/rules/placement": {upward: 1, methods: 65},
}

// machines are the types whose methods are counted.
var machines = map[string]string{
	"actors/binding": "Binding", "actors/cluster": "Cluster", "actors/governor": "Governor", "actors/scheduler": "Scheduler",
	"actors/rules/placement": "Planner",
}

func TestFilesAreReadInOrder(t *testing.T) {
	exported := exportData(t)
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		p := load(t, name, exported)
		order := readingOrder(t, name, p.files)
		var upward []string
		arrows := p.arrows()
		for _, a := range slices.SortedFunc(maps.Keys(arrows), func(a, b arrow) int { return strings.Compare(a.from+a.to, b.from+b.to) }) {
			if order[a.to] > order[a.from] {
				upward = append(upward, fmt.Sprintf("%s uses of %s: %s", a.from, a.to, strings.Join(slices.Sorted(maps.Keys(arrows[a])), " ")))
			}
		}
		now := shape{upward: len(upward), methods: p.methods(machines[name])}
		t.Logf("%s: %d files, %d arrows, %d upward; %d methods", name, len(p.files), len(arrows), now.upward, now.methods)
		require.Equal(t, shapes[name], now, "%s, upward:\n%s", name, strings.Join(upward, "\n"))
	}
}

// readingOrder is where each file comes in the list of a package's doc.go: "//   - queue: all requests".
func readingOrder(t *testing.T, name string, files map[string]*ast.File) map[string]int {
	t.Helper()
	order := map[string]int{}
	for i, item := range regexp.MustCompile(`(?m)^//   - (\w+): `).FindAllStringSubmatch(page(t, name+"/doc.go"), -1) {
		order[item[1]] = i
	}
	require.Equal(t, slices.Sorted(maps.Keys(files)), slices.Sorted(maps.Keys(order)), "the files of %s, and those that its doc.go lists", name)
	return order
}

// exportData are the files of the compiler's export data, by import path: what a package is checked against.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./actors/...")
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[name] = file
	}
	return files
}

// checked is a package with its types, tests and doc.go aside.
type checked struct {
	types *types.Package
	fset  *token.FileSet
	files map[string]*ast.File // by name, without .go
	uses  map[*ast.Ident]types.Object
}

func load(t *testing.T, name string, exported map[string]string) checked {
	t.Helper()
	p := checked{fset: token.NewFileSet(), files: map[string]*ast.File{}, uses: map[*ast.Ident]types.Object{}}
	all, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name), "*.go"))
	require.NoError(t, err)
	for _, file := range all {
		if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == "doc.go" {
			continue
		}
		parsed, err := parser.ParseFile(p.fset, file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		p.files[p.file(parsed.Pos())] = parsed
	}
	config := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exported[path]) })}
	p.types, err = config.Check(module+name, p.fset, slices.Collect(maps.Values(p.files)), &types.Info{Uses: p.uses}) // order-free: each file once
	require.NoError(t, err)
	return p
}

// file is the name of the file that a position is in, without .go.
func (p checked) file(pos token.Pos) string {
	return strings.TrimSuffix(filepath.Base(p.fset.Position(pos).Filename), ".go")
}

type arrow struct{ from, to string }

// arrows are the names that one file uses of another. Fields do not count: who has a value of a type knows what it has.
func (p checked) arrows() map[arrow]map[string]bool {
	all := map[arrow]map[string]bool{}
	for id, used := range p.uses { // order-free: a set
		_, function := used.(*types.Func)
		if used.Pkg() != p.types || !function && used.Parent() != p.types.Scope() {
			continue
		}
		if a := (arrow{p.file(id.Pos()), p.file(used.Pos())}); a.from != a.to {
			if all[a] == nil {
				all[a] = map[string]bool{}
			}
			all[a][used.Name()] = true
		}
	}
	return all
}

// methods counts those declared for a type.
func (p checked) methods(machine string) int {
	named, is := p.types.Scope().Lookup(machine).(*types.TypeName)
	if !is {
		return 0
	}
	return named.Type().(*types.Named).NumMethods()
}
