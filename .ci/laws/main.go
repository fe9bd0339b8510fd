// A vet tool for messages and actors that finds what no list of forbidden packages can: a
// goroutine, a channel, a select, or a walk over a map whose order could reach the outbox.
//
//	go build -o laws . && go vet -vettool=./laws ./messages/... ./actors/...
//
// A walk over a map that cannot say anything about order is allowed where a comment on its line, or on
// the line above, says so with the words "order-free".
package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() { unitchecker.Main(purity) }

var purity = &analysis.Analyzer{
	Name: "purity",
	Doc:  "machines and rules start nothing, wait for nothing and walk no map",
	Run:  run,
}

func run(pass *analysis.Pass) (any, error) {
	for _, file := range pass.Files {
		if strings.HasSuffix(pass.Fset.Position(file.Pos()).Filename, "_test.go") {
			continue
		}
		free := orderFree(pass.Fset, file)
		ast.Inspect(file, func(n ast.Node) bool {
			check(pass, n, free)
			return true
		})
	}
	return nil, nil
}

// orderFree returns the lines that a comment excuses.
func orderFree(fset *token.FileSet, file *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.Contains(c.Text, "order-free") {
				line := fset.Position(c.Pos()).Line
				lines[line], lines[line+1] = true, true
			}
		}
	}
	return lines
}

func check(pass *analysis.Pass, n ast.Node, free map[int]bool) {
	switch n := n.(type) {
	case *ast.GoStmt:
		pass.Reportf(n.Pos(), "a machine starts no goroutine")
	case *ast.SelectStmt:
		pass.Reportf(n.Pos(), "a machine waits for nothing")
	case *ast.ChanType:
		pass.Reportf(n.Pos(), "machines speak by messages, not by channels")
	case *ast.RangeStmt:
		if _, isMap := pass.TypesInfo.TypeOf(n.X).Underlying().(*types.Map); isMap && !free[pass.Fset.Position(n.Pos()).Line] {
			pass.Reportf(n.Pos(), "a map has no order: walk a slice or sorted keys, or say why this is order-free")
		}
	}
}
