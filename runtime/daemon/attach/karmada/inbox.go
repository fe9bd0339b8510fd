package karmada

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"leeward/messages/api"
)

// inbox has what changed at the server, in the order in which it was heard: versions of the server tell the order within one kind only.
// Of each object it has the newest version, so it is no larger than the fleet.
type inbox struct {
	mu sync.Mutex
	// heard counts changes, order are the objects of which there is news.
	heard  uint64
	order  []api.Key
	latest map[api.Key]api.Object
	// known are the versions of all objects that exist, by kind; waiting the kinds that have not been listed.
	known   map[*kind]map[api.Key]string
	waiting map[*kind]bool
	count   int
	// lost is since when a kind cannot be followed, and why.
	lost map[*kind]loss
	// most is how many objects there may be, full whether there are more.
	most int
	full bool
	news chan struct{}
}

// loss is since when a kind cannot be followed, why, and since when it can again; zero: it cannot yet.
type loss struct {
	since, back time.Time
	err         error
}

// catchesUp is how long the changes that were missed may take to arrive once a kind can be followed again.
const catchesUp = 2 * time.Second

// mostObjects is how many objects are followed at most.
const mostObjects = 4_000_000

func newInbox(all []*kind) *inbox {
	i := &inbox{latest: map[api.Key]api.Object{}, known: map[*kind]map[api.Key]string{}, waiting: map[*kind]bool{}, lost: map[*kind]loss{}, most: mostObjects, news: make(chan struct{}, 1)}
	for _, k := range all {
		i.known[k], i.waiting[k] = map[api.Key]string{}, true
	}
	return i
}

// news are changes; a nil object is gone.
type news struct {
	key    api.Key
	object api.Object
}

// take takes what changed since it was last called.
func (i *inbox) take() []news {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := make([]news, len(i.order))
	for n, key := range i.order {
		all[n] = news{key, i.latest[key]}
	}
	i.order, i.latest = nil, map[api.Key]api.Object{} // another one: that of a whole fleet is large
	return all
}

// listed reports whether every kind has been listed.
func (i *inbox) listed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.waiting) == 0
}

// blind says why what happens cannot be seen; nil: it can.
func (i *inbox) blind(now time.Time) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.full {
		return fmt.Errorf("there are more than %d objects", i.most)
	}
	var all []string
	for k, l := range i.lost { // order-free: sorted below
		if !l.back.IsZero() && now.Sub(l.back) >= catchesUp {
			delete(i.lost, k)
			continue
		}
		all = append(all, fmt.Sprintf("%s cannot be followed since %s: %v", k.Plural, l.since.UTC().Format(time.RFC3339), l.err))
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return errors.New(strings.Join(all, "; "))
}

// lose notes that a kind cannot be followed, and reports whether that is new.
func (i *inbox) lose(k *kind, at time.Time, err error) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	l, already := i.lost[k]
	if already && l.back.IsZero() {
		return false
	}
	i.lost[k] = loss{since: at, err: err}
	i.wake()
	return true
}

// find notes that a kind can be followed again.
func (i *inbox) find(k *kind, at time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if l, was := i.lost[k]; was {
		l.back = at
		i.lost[k] = l
		i.wake()
	}
}

// put notes an object that is as the server has it. The lock is held.
func (i *inbox) put(k *kind, key api.Key, o api.Object) {
	version := ""
	if o != nil {
		version = o.GetResourceVersion()
	}
	before, existed := i.known[k][key]
	switch {
	case o == nil && !existed, o != nil && existed && (before == version && version != "" || older(version, before)):
		return
	case o == nil:
		delete(i.known[k], key)
		i.count--
	case !existed && i.count >= i.most:
		i.full = true
		return
	case !existed:
		i.count++
		fallthrough
	default:
		i.known[k][key] = version
	}
	if _, waits := i.latest[key]; !waits {
		i.order = append(i.order, key)
	}
	i.latest[key] = o
	i.heard++
}

// older reports whether a version of an object is older than another. Source: Kubernetes, KEP-5504, comparable resource versions.
func older(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// answered takes in an object as the server answered a write of it, before its watch tells; one that is known to be gone stays so.
func (i *inbox) answered(k *kind, o api.Object) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if key := api.KeyOf(o); i.known[k][key] != "" {
		i.put(k, key, o)
		i.wake()
	}
}

func (i *inbox) wake() {
	select {
	case i.news <- struct{}{}:
	default:
	}
}

// sink is the inbox as the reflector of a kind fills it.
type sink struct {
	*inbox
	kind *kind
}

func (s *sink) change(o any, gone bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	object := o.(api.Object)
	key := api.KeyOf(object)
	if gone {
		object = nil
	}
	delete(s.lost, s.kind)
	s.put(s.kind, key, object)
	s.wake()
	return nil
}

// Add, Update and Delete take in a change.
func (s *sink) Add(o any) error    { return s.change(o, false) }
func (s *sink) Update(o any) error { return s.change(o, false) }
func (s *sink) Delete(o any) error { return s.change(o, true) }

// Replace takes in a whole list: what differs from what is known is news.
func (s *sink) Replace(all []any, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	exist := make(map[api.Key]bool, len(all))
	for _, o := range all {
		object := o.(api.Object)
		key := api.KeyOf(object)
		exist[key] = true
		s.put(s.kind, key, object)
	}
	var gone []api.Key
	for key := range s.known[s.kind] { // order-free: sorted below
		if !exist[key] {
			gone = append(gone, key)
		}
	}
	slices.SortFunc(gone, func(a, b api.Key) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, key := range gone {
		s.put(s.kind, key, nil)
	}
	delete(s.waiting, s.kind)
	s.wake()
	return nil
}

// Resync has nothing to do.
func (s *sink) Resync() error { return nil }

// Bookmark notes that a watch goes on.
func (s *sink) Bookmark(string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lost, s.kind)
	s.wake()
	return nil
}
