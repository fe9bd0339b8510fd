package shrink

import (
	"maps"
	"slices"
	"sync"
)

// Reduce makes lists as small as they get while fails holds of them: it omits elements, halves of lists first, until no element can be
// omitted, and only then parts of elements, and makes numbers smaller. A part is what YAML decodes to: mappings and lists are taken
// apart, whole numbers made smaller, everything else is kept or omitted as it is. The lists come in the order in which they are tried, and
// again until nothing more can be omitted, or fails was asked so many times. It returns how often it was asked.
//
// Values inside the lists are changed in place.
func Reduce(lists []*[]any, most int, fails func() bool) (tries int) {
	r := &reducing{most: most, parallel: 1, begin: func() func() bool {
		is := fails()
		return func() bool { return is }
	}}
	r.reduce(lists)
	return r.tries
}

// reducing is one search.
type reducing struct {
	tries, most int
	// parallel is how many candidates are tried at the same time. The result does not depend on it: one that was tried beside an
	// earlier one that fails is dropped, and does not count.
	parallel int
	// begin prepares a try of the lists as they are now. What it returns says whether they still fail, may run while the lists change,
	// and beside others.
	begin func() (fails func() bool)
	// tried hears of each try that counts; nil: there is no listener.
	tried func(tries int)
	// kept counts the changes that were kept.
	kept int
}

// change is one step towards a smaller case: do makes it, undo takes it back.
type change struct{ do, undo func() }

// first makes the first of some changes, which exclude each other, that still fails. It returns which one that is; -1: none.
func (r *reducing) first(changes []change) int {
	for from := 0; from < len(changes) && r.tries < r.most; {
		batch := changes[from:min(len(changes), from+r.parallel, from+r.most-r.tries)]
		results := make([]bool, len(batch))
		var running sync.WaitGroup
		for i, c := range batch {
			c.do()
			fails := r.begin()
			c.undo()
			running.Go(func() { results[i] = fails() })
		}
		running.Wait()
		for i, is := range results {
			if r.tries++; r.tried != nil {
				r.tried(r.tries)
			}
			if is {
				batch[i].do()
				r.kept++
				return from + i
			}
		}
		from += len(batch)
	}
	return -1
}

// reduce omits elements of all lists until there is none left to omit, before it looks inside what remains: each try is
// cheaper then, and there are fewer.
func (r *reducing) reduce(lists []*[]any) {
	var tasks []func()
	for _, list := range lists {
		tasks = append(tasks, func() { r.omit(*list, func(v []any) { *list = v }) })
	}
	for _, list := range lists {
		tasks = append(tasks, func() { r.inside(*list) })
	}
	settled := slices.Repeat([]int{-1}, len(tasks)) // how many changes there were when a task found nothing to change
	for i := 0; i < len(tasks) && r.tries < r.most; {
		if settled[i] == r.kept {
			i++
			continue
		}
		before := r.kept
		if tasks[i](); r.kept == before {
			settled[i] = before
			i++
		} else {
			i = 0
		}
	}
}

// omit omits as many elements of a list as it can, the last first: halves, quarters and so on down to one, as delta debugging does. put
// puts the shorter list where it is.
func (r *reducing) omit(list []any, put func([]any)) {
	for size := max(1, len(list)/2); size > 0; size /= 2 {
		for end := len(list); end > 0; {
			var changes []change
			for e := end; e > 0; e -= size {
				changes = append(changes, change{
					do:   func() { put(slices.Delete(slices.Clone(list), max(0, e-size), e)) },
					undo: func() { put(list) },
				})
			}
			i := r.first(changes)
			if i < 0 {
				break
			}
			end -= i * size
			list = slices.Delete(slices.Clone(list), max(0, end-size), end)
			end -= size
		}
	}
}

// inside tries to do without parts of the elements of a list.
func (r *reducing) inside(list []any) {
	for i := range list {
		r.value(list[i], func(v any) { list[i] = v })
	}
}

// value tries to do without each part of a value that is where put puts it.
func (r *reducing) value(v any, put func(any)) {
	switch v := v.(type) {
	case map[string]any:
		r.mapping(v)
	case []any:
		r.omit(v, func(shorter []any) { v = shorter; put(shorter) })
		r.inside(v)
	case int:
		var changes []change
		for _, less := range []int{0, 1, v / 2, v - 1} {
			if less >= 0 && less < v {
				changes = append(changes, change{do: func() { put(less) }, undo: func() { put(v) }})
			}
		}
		r.first(changes)
	}
}

// needed are the keys that no object can do without.
var needed = []string{"apiVersion", "kind", "metadata", "name"}

func (r *reducing) mapping(m map[string]any) {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(m)), func(key string) bool { return slices.Contains(needed, key) })
	for len(keys) > 0 {
		var changes []change
		for _, key := range keys {
			old := m[key]
			changes = append(changes, change{do: func() { delete(m, key) }, undo: func() { m[key] = old }})
		}
		i := r.first(changes)
		if i < 0 {
			break
		}
		keys = keys[i+1:]
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		r.value(m[key], func(v any) { m[key] = v })
	}
}
