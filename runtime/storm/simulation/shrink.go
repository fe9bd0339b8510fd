package simulation

import (
	"maps"
	"slices"
)

// Shrink returns a case that breaks the same invariant with as little as it takes: parts are omitted, and numbers
// made smaller, as long as it does. A case without which the invariant holds, or that is no valid scenario, is no
// step. The case is taken apart: draw it again to have it.
func Shrink(c *Case, name string, try func(*Case) *Finding) *Case {
	s := &shrinking{}
	s.fails = func() bool {
		if s.tries++; s.tries > mostTries {
			return false
		}
		f := try(c)
		return f != nil && f.Invariant == name
	}
	for s.shrunk = true; s.shrunk && s.tries < mostTries; {
		s.shrunk = false
		for _, list := range []*[]any{&c.Timeline, &c.Manifests, &c.Fleet, &c.Config} {
			s.cut(*list, func(v any) { *list = v.([]any) })
		}
	}
	return c
}

// mostTries is when a case is small enough: most are as small as they get after some hundred, and one that goes
// round in circles takes long each time.
const mostTries = 400

type shrinking struct {
	tries int
	fails func() bool
	// shrunk is set once something was omitted since the last look at everything.
	shrunk bool
}

// keeps reports whether the case still fails with what was just done to it; else that is undone.
func (s *shrinking) keeps(undo func()) bool {
	if !s.fails() {
		undo()
		return false
	}
	s.shrunk = true
	return true
}

// cut tries to do without each part of a value that is where put puts it.
func (s *shrinking) cut(v any, put func(any)) {
	switch v := v.(type) {
	case mapping:
		s.cutMapping(v)
	case []any:
		s.cutList(v, put)
	case int:
		for _, less := range []int{0, 1, v / 2, v - 1} {
			if less >= 0 && less < v {
				put(less)
				if s.keeps(func() { put(v) }) {
					return
				}
			}
		}
	}
}

func (s *shrinking) cutMapping(m mapping) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		old := m[key]
		delete(m, key)
		if !s.keeps(func() { m[key] = old }) {
			s.cut(old, func(v any) { m[key] = v })
		}
	}
}

func (s *shrinking) cutList(list []any, put func(any)) {
	for i := len(list) - 1; i >= 0; i-- {
		whole := list
		list = slices.Delete(slices.Clone(whole), i, i+1)
		put(list)
		if !s.keeps(func() { put(whole) }) {
			list = whole
		}
	}
	for i := range list {
		s.cut(list[i], func(v any) { list[i] = v })
	}
}
