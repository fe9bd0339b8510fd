package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// operate plants all faults below a node: negated conditions, borders off by one, sums off by one, dropped calls and
// assignments, returned truths, and values of one type that are swapped.
func (s *surgeon) operate(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			s.negate(n.Cond)
		case *ast.BinaryExpr:
			s.binary(n)
		case *ast.ReturnStmt:
			s.returned(n)
		case *ast.BlockStmt:
			s.statements(n.List)
		case *ast.CaseClause:
			s.statements(n.Body)
		case *ast.CommClause:
			s.statements(n.Body)
		case *ast.CallExpr:
			if s.builtin(n) == "make" { // its sizes are a matter of speed, but for a slice's length
				return s.length(n)
			}
			s.arguments(n)
		case *ast.CompositeLit:
			s.fields(n)
		}
		return true
	})
}

func (s *surgeon) typeOf(e ast.Expr) types.Type { return s.package_.TypesInfo.TypeOf(e) }

func (s *surgeon) constant(e ast.Expr) constant.Value { return s.package_.TypesInfo.Types[e].Value }

// negate negates a condition, unless that is a comparison, which is negated where that is met, or consists of conditions.
func (s *surgeon) negate(e ast.Expr) {
	switch x := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return
	default:
		if s.constant(x) != nil {
			return
		}
		s.wrap(x, fmt.Sprintf("mutant_.Not(%d, ", s.add("negate", x, s.text(x))), ")")
	}
}

var borders = map[token.Token]string{token.LSS: "Lt", token.LEQ: "Le", token.GTR: "Gt", token.GEQ: "Ge"}

func (s *surgeon) binary(e *ast.BinaryExpr) {
	if s.constant(e) != nil {
		return
	}
	switch e.Op {
	case token.LAND, token.LOR:
		s.negate(e.X)
		s.negate(e.Y)
	case token.EQL, token.NEQ:
		s.wrap(e, fmt.Sprintf("mutant_.Not(%d, ", s.add("negate", e, s.text(e))), ")")
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		s.wrap(e, fmt.Sprintf("mutant_.Not(%d, ", s.add("negate", e, s.text(e))), ")")
		s.wrap(e, fmt.Sprintf("mutant_.%s(%d, ", borders[e.Op], s.add("border", e, s.text(e))), ")")
		s.edits = append(s.edits, edit{at: s.file.Offset(e.OpPos), length: len(e.Op.String()), side: replaces, text: ","})
	case token.ADD, token.SUB:
		if s.countsByOne(e) {
			s.wrap(e, fmt.Sprintf("mutant_.Off(%d, ", s.add("off by one", e, s.text(e))), ")")
		}
	}
}

// countsByOne reports whether a sum of integers has a literal in it.
func (s *surgeon) countsByOne(e *ast.BinaryExpr) bool {
	basic, ok := s.typeOf(e).Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 || basic.Info()&types.IsUntyped != 0 || s.typeOf(e).String() == "time.Duration" {
		return false
	}
	literal := func(e ast.Expr) bool { l, ok := ast.Unparen(e).(*ast.BasicLit); return ok && l.Kind == token.INT }
	return literal(e.X) || literal(e.Y)
}

// returned negates truths that are returned as they are written.
func (s *surgeon) returned(r *ast.ReturnStmt) {
	for _, e := range r.Results {
		if v := s.constant(e); v != nil && v.Kind() == constant.Bool && types.Identical(s.typeOf(e), types.Typ[types.Bool]) {
			s.wrap(e, fmt.Sprintf("mutant_.Not(%d, ", s.add("return", e, s.text(r))), ")")
		}
	}
}

// statements drops calls and assignments.
func (s *surgeon) statements(list []ast.Stmt) {
	for _, statement := range list {
		if !s.droppable(statement) {
			continue
		}
		s.wrap(statement, fmt.Sprintf("if mutant_.Keep(%d) { ", s.add("drop", statement, s.text(statement))), " }")
	}
}

// droppable reports whether code compiles without a statement, and tests can tell.
func (s *surgeon) droppable(statement ast.Stmt) bool {
	switch x := statement.(type) {
	case *ast.ExprStmt:
		call, ok := x.X.(*ast.CallExpr)
		return ok && !s.silent(call)
	case *ast.DeferStmt:
		return !s.silent(x.Call)
	case *ast.AssignStmt:
		return x.Tok != token.DEFINE && !slices.ContainsFunc(x.Lhs, blank) && !slices.ContainsFunc(x.Rhs, received)
	case *ast.IncDecStmt:
		return true
	}
	return false
}

func blank(e ast.Expr) bool { i, ok := e.(*ast.Ident); return ok && i.Name == "_" }

// received tells a value out of a channel: without it, the receiver waits for ever.
func received(e ast.Expr) bool {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return ok && u.Op == token.ARROW
}

// unheard are calls that no test is to notice: locks (a test would hang for a minute), panics, and what only gives way or
// frees memory.
var unheard = []string{"panic", "Lock", "Unlock", "RLock", "RUnlock", "GiveWay", "clear", "Add", "Done", "Wait", "Broadcast", "Signal"}

func (s *surgeon) silent(call *ast.CallExpr) bool {
	if tells(s.typeOf(call.Fun)) || tells(s.typeOf(call)) {
		return true
	}
	if f, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && tells(s.typeOf(f.X)) {
		return true
	}
	return slices.Contains(unheard, called(call))
}

// called names the function or method that is called; "" where it has no name.
func called(call *ast.CallExpr) string {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// tells reports whether a value writes the log.
func tells(t types.Type) bool { return t != nil && strings.Contains(t.String(), "zerolog.") }

// symmetric are functions to which the order of two values is all one.
var symmetric = []string{"min", "max", "Equal", "EqualFunc", "DeepEqual", "Earlier"}

// arguments swaps neighbours of one type.
func (s *surgeon) arguments(call *ast.CallExpr) {
	signature, ok := s.typeOf(call.Fun).(*types.Signature)
	if !ok || call.Ellipsis.IsValid() || slices.Contains(symmetric, called(call)) {
		return
	}
	fixed := signature.Params().Len()
	if signature.Variadic() {
		fixed--
	}
	s.swap(call, call.Args[:min(fixed, len(call.Args))])
}

// builtin names the language's own function that is called; "" for any other.
func (s *surgeon) builtin(call *ast.CallExpr) string {
	name, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || !s.package_.TypesInfo.Types[name].IsBuiltin() {
		return ""
	}
	return name.Name
}

// length plants the faults of the length that a slice is made of.
func (s *surgeon) length(call *ast.CallExpr) bool {
	if _, ok := s.typeOf(call).Underlying().(*types.Slice); ok && len(call.Args) > 1 {
		s.operate(call.Args[1])
	}
	return false
}

// fields swaps neighbouring values of a literal that has names.
func (s *surgeon) fields(l *ast.CompositeLit) {
	if _, ok := s.typeOf(l).Underlying().(*types.Struct); !ok {
		return
	}
	var values []ast.Expr
	for _, e := range l.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			values = append(values, kv.Value)
		}
	}
	s.swap(l, values)
}

// swap plants a swap of the first two neighbours that are of one type and free of effects.
func (s *surgeon) swap(where ast.Node, values []ast.Expr) {
	for i := 1; i < len(values); i++ {
		a, b := values[i-1], values[i]
		if !pure(a) || !pure(b) || !s.exchangeable(a, b) || s.text(a) == s.text(b) {
			continue
		}
		x, y := s.text(a), s.text(b)
		id := s.add("swap", where, x+" and "+y)
		s.replace(a, fmt.Sprintf("mutant_.Pick(%d, %s, %s)", id, x, y))
		s.replace(b, fmt.Sprintf("mutant_.Pick(%d, %s, %s)", id, y, x))
		return
	}
}

// exchangeable reports whether two values have one type, which one of them at least names.
func (s *surgeon) exchangeable(a, b ast.Expr) bool {
	if s.constant(a) != nil || s.constant(b) != nil {
		return false
	}
	t := s.typeOf(a)
	if basic, ok := t.(*types.Basic); ok && basic.Kind() == types.UntypedNil {
		return false
	}
	return types.Identical(t, s.typeOf(b))
}

// pure tells names and fields: what may be read twice.
func pure(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name != "nil"
	case *ast.SelectorExpr:
		return pure(e.X)
	}
	return false
}
