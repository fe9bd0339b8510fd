package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const modulePath = "leeward"

// mutated is a package with faults planted into it.
type mutated struct {
	name   string // below the module, as actors/binding
	layers []string
	files  map[string][]byte // mutated sources by path
	faults []fault
	// equivalent is how many faults were omitted because they change nothing.
	equivalent int
}

// fault is one change that a test should notice.
type fault struct {
	id    int
	kind  string // "negate", "border", "off by one", "drop", "swap", "return"
	place string // file:line, below the module
	where string // the function
	text  string // what is changed
}

func (f *fault) String() string {
	return fmt.Sprintf("%s: %s: %s: %s", f.place, f.where, f.kind, f.text)
}

// key names a fault where lines move: it is what equivalent.txt lists.
func (f *fault) key() string {
	file, _, _ := strings.Cut(f.place, ":")
	return fmt.Sprintf("%s: %s: %s: %s", file, f.where, f.kind, f.text)
}

// plant loads the packages of a target and plants all faults into them.
func plant(root string, t target) ([]*mutated, error) {
	loaded, err := packages.Load(&packages.Config{
		Dir:  root,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, "./"+t.pattern)
	if err != nil {
		return nil, err
	}
	var all []*mutated
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("load %s: %w", p.PkgPath, p.Errors[0])
		}
		m := &mutated{name: strings.TrimPrefix(p.PkgPath, modulePath+"/"), layers: t.layers, files: map[string][]byte{}}
		for _, file := range p.Syntax {
			if err := m.plantFile(root, p, file); err != nil {
				return nil, err
			}
		}
		if len(m.faults) > 0 {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no package holds a place for a fault", t.pattern)
	}
	return all, nil
}

func (m *mutated) plantFile(root string, p *packages.Package, file *ast.File) error {
	path := p.Fset.Position(file.FileStart).Filename
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	short, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	s := &surgeon{package_: p, file: p.Fset.File(file.FileStart), source: source, short: short, faults: &m.faults}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			s.function = nameOf(f)
			s.operate(f.Body)
		}
	}
	if len(s.edits) == 0 {
		return nil
	}
	s.replace(file.Name, file.Name.Name+`; import mutant_ "leeward/mutant"`)
	m.files[path] = s.result()
	return nil
}

func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	return strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*") + "." + f.Name.Name
}

// leaveOut drops faults that were not asked for and those that are known to change nothing.
func (m *mutated) leaveOut(only string, equivalent reasons) {
	m.faults = slices.DeleteFunc(m.faults, func(f fault) bool {
		known, ok := equivalent[f.key()]
		if !ok {
			return !slices.ContainsFunc(strings.Split(only, "|"), func(part string) bool { return strings.Contains(f.String(), part) })
		}
		known.met = true
		m.equivalent++
		return true
	})
}

// reasons are why faults change nothing, by the key of the fault.
type reasons map[string]*reason

type reason struct {
	line int
	// met: a fault has the key.
	met bool
}

// stale are the keys that no fault has, because the code changed.
func (r reasons) stale() (keys []string) {
	for key, known := range r {
		if !known.met {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return r[a].line - r[b].line })
	return keys
}

// readEquivalent reads the faults that change nothing visible. Each line is a fault's key, a tab, and the reason.
func readEquivalent(path string) (reasons, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keys := reasons{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, why, _ := strings.Cut(line, "\t")
		if strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("%s:%d: %q has no reason: write it after a tab", path, i+1, key)
		}
		keys[key] = &reason{line: i + 1}
	}
	return keys, nil
}

// surgeon plants the faults of one file.
type surgeon struct {
	package_ *packages.Package
	file     *token.File
	source   []byte
	short    string
	function string
	faults   *[]fault
	edits    []edit
}

// edit puts text in the place of length bytes at an offset.
type edit struct {
	at, length int
	text       string
	// side tells the end of what is wrapped from its beginning, and partner is the other offset: they nest.
	side    side
	partner int
}

type side int

const (
	closes side = iota
	opens
	replaces
)

// result is the source with all edits in it.
func (s *surgeon) result() []byte {
	order := make([]int, len(s.edits))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &s.edits[i], &s.edits[j]
		inner := j - i // of what spans the same, what was wrapped last is the innermost
		if a.side == opens {
			inner = i - j
		}
		return cmp.Or(a.at-b.at, int(a.side-b.side), b.partner-a.partner, inner)
	})
	var out []byte
	last := 0
	for _, i := range order {
		e := &s.edits[i]
		out = append(append(out, s.source[last:e.at]...), e.text...)
		last = e.at + e.length
	}
	return append(out, s.source[last:]...)
}

// wrap puts text around a node.
func (s *surgeon) wrap(n ast.Node, before, after string) {
	start, end := s.file.Offset(n.Pos()), s.file.Offset(n.End())
	s.edits = append(s.edits,
		edit{at: start, side: opens, partner: end, text: before},
		edit{at: end, side: closes, partner: start, text: after})
}

// replace puts text in the place of a node.
func (s *surgeon) replace(n ast.Node, text string) {
	start, end := s.file.Offset(n.Pos()), s.file.Offset(n.End())
	s.edits = append(s.edits, edit{at: start, length: end - start, side: replaces, text: text})
}

// add notes a fault and returns its number.
func (s *surgeon) add(kind string, n ast.Node, text string) int {
	id := len(*s.faults)
	*s.faults = append(*s.faults, fault{
		id: id, kind: kind, where: s.function, text: text, place: fmt.Sprintf("%s:%d", s.short, s.file.Line(n.Pos())),
	})
	return id
}

// text is the source of a node, on one line.
func (s *surgeon) text(n ast.Node) string {
	return strings.Join(strings.Fields(string(s.source[s.file.Offset(n.Pos()):s.file.Offset(n.End())])), " ")
}
