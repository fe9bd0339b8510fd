package interpreter

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openLibraries gives a script what it may use.
func openLibraries(l *lua.LState, m *meter) {
	for name, open := range map[string]lua.LGFunction{ // order-free: each has its own name
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	for _, name := range []string{
		"_G", "_GOPHER_LUA_VERSION", "collectgarbage", "dofile", "getfenv", "getmetatable", "load", "loadfile", "loadstring", "module", "newproxy", "print", "_printregs",
		"rawequal", "rawget", "rawset", "require", "setfenv", "setmetatable",
	} {
		l.SetGlobal(name, lua.LNil)
	}
	numbers := l.GetGlobal(lua.MathLibName).(*lua.LTable)
	numbers.RawSetString("random", lua.LNil)
	numbers.RawSetString("randomseed", lua.LNil)
	m.meterStrings(l)
	m.meterTables(l)
	l.SetGlobal(concatName, l.NewFunction(m.concat))
	l.SetGlobal(keyName, l.NewFunction(m.key))
	l.SetGlobal("tonumber", m.around(l, l.GetGlobal("tonumber"), func(l *lua.LState) { m.take(l, lengthAt(l, 1)) }))
	kube := l.SetFuncs(l.NewTable(), kubeFunctions)
	l.SetGlobal("require", l.NewFunction(func(l *lua.LState) int {
		if name := l.CheckString(1); name != "kube" {
			l.RaiseError("require %q: there is kube, and nothing else", name)
		}
		l.Push(kube)
		return 1
	}))
}

// concat joins two values as ".." does.
func (m *meter) concat(l *lua.LState) int {
	var texts [2]string
	for i := range texts {
		v := l.Get(i + 1)
		if !lua.LVCanConvToString(v) {
			l.RaiseError("attempt to concatenate a %s value", v.Type())
		}
		texts[i] = lua.LVAsString(v)
	}
	m.makes(l, len(texts[0])+len(texts[1]))
	l.Push(lua.LString(texts[0] + texts[1]))
	return 1
}

// key counts the places that a table gets before the one of a key.
func (m *meter) key(l *lua.LState) int {
	k := l.Get(1)
	if n, is := k.(lua.LNumber); is && n > 256 {
		m.take(l, int(math.Min(float64(n), mostBytes))*16)
	}
	l.Push(k)
	return 1
}

// around is a function that does something before another one, and counts the strings that this returns.
func (m *meter) around(l *lua.LState, f lua.LValue, before func(*lua.LState)) *lua.LFunction {
	return l.NewFunction(func(l *lua.LState) int {
		before(l)
		top := l.GetTop()
		l.Push(f)
		for i := range top {
			l.Push(l.Get(i + 1))
		}
		l.Call(top, lua.MultRet)
		for i := top + 1; i <= l.GetTop(); i++ {
			if s, is := l.Get(i).(lua.LString); is {
				m.makes(l, len(s))
			}
		}
		return l.GetTop() - top
	})
}

func lengthAt(l *lua.LState, n int) int { return len(lua.LVAsString(l.Get(n))) }

// meterStrings bounds what the functions of strings make.
func (m *meter) meterStrings(l *lua.LState) {
	strings := l.GetGlobal(lua.StringLibName).(*lua.LTable)
	before := map[string]func(*lua.LState){
		"rep":    func(l *lua.LState) { m.makes(l, product(lengthAt(l, 1), float64(l.CheckNumber(2)))) },
		"format": m.format,
		"find":   matches, "match": matches, "gmatch": matches, "gfind": matches,
		"gsub": func(l *lua.LState) {
			matches(l)
			m.take(l, product(lengthAt(l, 1)+1, float64(lengthAt(l, 3))))
		},
	}
	strings.RawSetString("dump", lua.LNil)
	strings.ForEach(func(name, f lua.LValue) {
		if f.Type() != lua.LTFunction {
			return
		}
		first := before[name.String()]
		if first == nil {
			first = func(*lua.LState) {}
		}
		strings.RawSet(name, m.around(l, f, first))
	})
}

// product is how many bytes a number of texts has, or more than there may be.
func product(length int, times float64) int {
	return int(math.Min(float64(length)*math.Max(times, 0), mostBytes+1))
}

// format refuses widths of more than three digits, and counts what is formatted.
func (m *meter) format(l *lua.LState) {
	digits := 0
	for _, c := range l.CheckString(1) {
		if digits++; c < '0' || c > '9' {
			digits = 0
		}
		if digits > 3 {
			l.RaiseError("string.format: a width of more than 999")
		}
	}
	total := lengthAt(l, 1)
	for i := 2; i <= l.GetTop(); i++ {
		total += lengthAt(l, i) + 1000
	}
	m.take(l, total)
}

// matches refuses a pattern that could take too long in its text.
func matches(l *lua.LState) {
	text, pattern := l.CheckString(1), l.CheckString(2)
	work := float64(len(text) + 1)
	for _, c := range pattern {
		if strings.ContainsRune("*+-?", c) {
			work *= float64(len(text) + 1)
		}
	}
	if work *= float64(len(pattern) + 1); work > mostMatching {
		l.RaiseError("the pattern %.40q repeats too much for a text of %d bytes", pattern, len(text))
	}
}

// meterTables bounds what the functions of tables make.
func (m *meter) meterTables(l *lua.LState) {
	tables := l.GetGlobal(lua.TabLibName).(*lua.LTable)
	insert := tables.RawGetString("insert")
	tables.RawSetString("insert", m.around(l, insert, func(l *lua.LState) {
		m.take(l, 16)
		if l.GetTop() < 3 {
			return
		}
		if at, most := float64(l.CheckNumber(2)), float64(l.CheckTable(1).Len()+1); at < 1 || at > most {
			l.RaiseError("table.insert: position %g is not between 1 and %g", at, most)
		}
	}))
	tables.RawSetString("concat", l.NewFunction(m.join))
}

// join is table.concat.
func (m *meter) join(l *lua.LState) int {
	t, separator := l.CheckTable(1), l.OptString(2, "")
	first, last := l.OptInt(3, 1), l.OptInt(4, t.Len())
	if last-first > t.Len() {
		l.RaiseError("table.concat: there is no value %d", last)
	}
	var parts []string
	total := 0
	for i := first; i <= last; i++ {
		v := t.RawGetInt(i)
		if !lua.LVCanConvToString(v) {
			l.RaiseError("table.concat: value %d is a %s", i, v.Type())
		}
		parts = append(parts, lua.LVAsString(v))
		if total += len(parts[len(parts)-1]) + len(separator); total > mostString {
			break // refused below, before it is made
		}
	}
	m.makes(l, total)
	l.Push(lua.LString(strings.Join(parts, separator)))
	return 1
}
