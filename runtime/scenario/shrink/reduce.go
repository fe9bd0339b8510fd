package shrink

import (
	"maps"
	"slices"
)

// Reduce makes lists as small as they get while fails holds of them: it omits parts, halves of lists first, and makes numbers smaller. A
// part is what YAML decodes to: mappings and lists are taken apart, whole numbers made smaller, everything else is kept or
// omitted as it is. The lists come in the order in which they are tried, and again until nothing more can be omitted, or fails was asked
// so many times. It returns how often it was asked.
//
// Values inside the lists are changed in place.
func Reduce(lists []*[]any, most int, fails func() bool) (tries int) {
	r := &reducing{most: most}
	r.fails = func() bool {
		if r.tries >= most {
			return false
		}
		r.tries++
		return fails()
	}
	for r.reduced = true; r.reduced && r.tries < most; {
		r.reduced = false
		for _, list := range lists {
			r.list(*list, func(v any) { *list = v.([]any) })
		}
	}
	return r.tries
}

type reducing struct {
	tries, most int
	fails       func() bool
	// reduced is set once something was omitted since the last look at everything.
	reduced bool
}

// keeps reports whether it still fails with what was just done; else that is undone.
func (r *reducing) keeps(undo func()) bool {
	if r.tries >= r.most || !r.fails() {
		undo()
		return false
	}
	r.reduced = true
	return true
}

// value tries to do without each part of a value that is where put puts it.
func (r *reducing) value(v any, put func(any)) {
	switch v := v.(type) {
	case map[string]any:
		r.mapping(v)
	case []any:
		r.list(v, put)
	case int:
		for _, less := range []int{0, 1, v / 2, v - 1} {
			if less >= 0 && less < v {
				put(less)
				if r.keeps(func() { put(v) }) {
					return
				}
			}
		}
	}
}

// needed are the keys that no object can do without.
var needed = []string{"apiVersion", "kind", "metadata", "name"}

func (r *reducing) mapping(m map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		old := m[key]
		if !slices.Contains(needed, key) {
			delete(m, key)
			if r.keeps(func() { m[key] = old }) {
				continue
			}
		}
		r.value(old, func(v any) { m[key] = v })
	}
}

// list omits as many elements as it can, the last first: halves, quarters and so on down to one, as delta debugging does.
func (r *reducing) list(list []any, put func(any)) {
	for size := max(1, len(list)/2); size > 0; size /= 2 {
		for end := len(list); end > 0; end -= size {
			whole := list
			list = slices.Delete(slices.Clone(whole), max(0, end-size), end)
			put(list)
			if !r.keeps(func() { put(whole) }) {
				list = whole
			}
		}
	}
	for i := range list {
		r.value(list[i], func(v any) { list[i] = v })
	}
}
