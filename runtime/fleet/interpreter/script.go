package interpreter

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// script is a script as it is run.
type script struct {
	compiled *lua.FunctionProto
	// function is the name of the function that is called in it.
	function string
}

// compile reads a script, which must define a function.
func compile(text, function string) (*script, error) {
	if len(text) > MostScript {
		return nil, fmt.Errorf("%d bytes: a script may have %d", len(text), MostScript)
	}
	parsed, err := parse.Parse(strings.NewReader(text), "script")
	if err != nil {
		return nil, errors.New(strings.TrimSpace(err.Error()))
	}
	meterAll(reflect.ValueOf(&parsed).Elem())
	compiled, err := lua.Compile(parsed, "script")
	if err != nil {
		return nil, err
	}
	return &script{compiled, function}, nil
}

// The names of what counts memory in place of the operators of Lua, which count none. A script cannot write them.
const concatName, keyName = "\x00concat", "\x00key"

// meterAll has what joins strings, and what writes into tables by a computed key, call functions that count.
func meterAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		meterAll(v.Elem())
		if joined, is := v.Interface().(*ast.StringConcatOpExpr); is {
			v.Set(reflect.ValueOf(metered(concatName, joined, joined.Lhs, joined.Rhs)))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch n := v.Interface().(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if at, is := to.(*ast.AttrGetExpr); is {
					at.Key = meteredKey(at.Key)
				}
			}
		case *ast.Field:
			n.Key = meteredKey(n.Key)
		}
		meterAll(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			meterAll(v.Index(i))
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				meterAll(f)
			}
		}
	}
}

func meteredKey(key ast.Expr) ast.Expr {
	if _, named := key.(*ast.StringExpr); named || key == nil {
		return key
	}
	return metered(keyName, key, key)
}

func metered(by string, in ast.Expr, of ...ast.Expr) *ast.FuncCallExpr {
	f := &ast.IdentExpr{Value: by}
	call := &ast.FuncCallExpr{Func: f, Args: of, AdjustRet: true} // one value, whatever it is a part of
	for _, n := range []interface {
		SetLine(int)
		SetLastLine(int)
	}{f, call} {
		n.SetLine(in.Line())
		n.SetLastLine(in.LastLine())
	}
	return call
}

// run calls the script's function in a state of its own, and returns its results as they are in Go.
func (s *script) run(results int, arguments ...any) (returned []lua.LValue, err error) {
	m := &meter{}
	l := lua.NewState(lua.Options{
		SkipOpenLibs: true, CallStackSize: mostCalls, RegistrySize: 256, RegistryMaxSize: mostValues, RegistryGrowStep: 256, MinimizeStackMemory: true,
	})
	defer l.Close()
	l.SetContext(m)
	openLibraries(l, m)
	if err := protected(l, l.NewFunctionFromProto(s.compiled), 0); err != nil {
		return nil, err
	}
	f, is := l.GetGlobal(s.function).(*lua.LFunction)
	if !is {
		return nil, fmt.Errorf("the script defines no function %s", s.function)
	}
	values := make([]lua.LValue, len(arguments))
	for i, a := range arguments {
		values[i] = toLua(l, a)
	}
	if err := protected(l, f, results, values...); err != nil {
		return nil, err
	}
	for i := range results {
		returned = append(returned, l.Get(i-results))
	}
	return returned, nil
}

// protected calls a function, and returns what it raises in one line.
func protected(l *lua.LState, f *lua.LFunction, results int, arguments ...lua.LValue) error {
	err := l.CallByParam(lua.P{Fn: f, NRet: results, Protect: true}, arguments...)
	if raised, is := errors.AsType[*lua.ApiError](err); is {
		text := raised.Error()
		if raised.Object != nil {
			text = raised.Object.String()
		}
		line, _, _ := strings.Cut(text, "\n")
		return errors.New(line)
	}
	return err
}
