package incident

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	strict "sigs.k8s.io/json"

	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
)

// Incident is a recording that was read.
type Incident struct {
	File    string
	Profile string
	Config  []config.Override
	// Server is the version of what was recorded.
	Server string
	// Start is the second in which it begins; Duration is how long it lasts.
	Start    time.Time
	Duration time.Duration
	// Stood are the objects that were there at first, Changes what became of them and others, in order.
	Stood   []api.Object
	Changes []ObjectChange
	// Notes say what is missing, a line each.
	Notes []string

	// broken are the instants at which leases could not be followed.
	broken []time.Duration
	// managers are the names under which objects were written.
	managers map[string]bool
}

// ObjectChange is one change of one object.
type ObjectChange struct {
	// Line of the file, and when it was seen, after Start.
	Line int
	At   time.Duration
	// Before and Now are the object; nil: there was none, there is none.
	Before, Now api.Object
	// By are the managers that wrote the object itself, and not its status, with this change. Empty: that is not known.
	By []string
}

// Key is the object's.
func (c *ObjectChange) Key() api.Key {
	if c.Now == nil {
		return api.KeyOf(c.Before)
	}
	return api.KeyOf(c.Now)
}

// Read reads a recording of a file of that name. A last line that was cut off is omitted, with a note: so a killed
// recorder leaves it. The error is a manifest.Problems.
func Read(file string, data []byte) (*Incident, error) {
	r := &reader{incident: &Incident{File: file, managers: map[string]bool{}}, known: map[api.Key]*version{}, lists: map[string]*list{}, skipped: map[string]int{}}
	for data := data; len(data) > 0; {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		r.line++
		if !whole && r.line > 1 && !json.Valid(line) {
			r.note("the last line was cut off")
			break
		}
		r.read(line)
		if r.line == 1 && len(r.problems) > 0 {
			break
		}
	}
	if r.line == 0 {
		r.bad("", "", "the file is empty")
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	r.finish()
	return r.incident, nil
}

// reader is a recording that is being read.
type reader struct {
	incident *Incident
	line     int
	at       time.Duration
	ended    bool
	// known are the objects as they are by now; lists are those that have begun, by resource; skipped counts objects of
	// kinds that no engine looks at.
	known    map[api.Key]*version
	lists    map[string]*list
	skipped  map[string]int
	problems manifest.Problems
}

// version is an object as it was seen last.
type version struct {
	object  api.Object
	writers []Writer
	// seen is set when a list that is under way has it.
	seen bool
}

// list is how often a resource was listed, and whether it is being listed.
type list struct {
	times int
	open  bool
}

func (r *reader) bad(field, value, message string) {
	r.problems = append(r.problems, &manifest.Problem{File: r.incident.File, Line: r.line, Field: field, Value: value, Message: message})
}

func (r *reader) note(text string) { r.incident.Notes = append(r.incident.Notes, text) }

func (r *reader) read(text []byte) {
	var l Line
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&l); err != nil {
		r.bad("", "", fmt.Sprintf("not a line of a recording: %v", err))
		return
	}
	if _, err := strict.Token(); err != io.EOF {
		r.bad("", "", "more than one value in a line")
		return
	}
	if (r.line == 1) != (l.Type == Header) {
		r.bad("type", fmt.Sprintf("%q", l.Type), "want HEADER in the first line, and there alone")
		return
	}
	if l.Time.IsZero() {
		r.bad("time", "", "required")
		return
	}
	if r.line > 1 { // a clock that was set back does not move
		r.at = max(r.at, l.Time.Sub(r.incident.Start).Truncate(time.Millisecond))
	}
	r.take(&l)
}

func (r *reader) take(l *Line) {
	switch l.Type {
	case Header:
		r.header(l)
	case Stood, Added, Modified:
		r.object(l)
	case Deleted:
		r.deletion(l)
	case Listed:
		r.listed(l)
	case Absent:
		r.note(fmt.Sprintf("%s were not recorded: %s", l.Resource, l.Reason))
	case Lost, Gap:
		r.broken(l)
	case End:
		r.ended = true
	default:
		r.bad("type", fmt.Sprintf("%q", l.Type), "want STOOD, LISTED, ABSENT, ADDED, MODIFIED, DELETED, LOST, GAP or END")
	}
}

func (r *reader) header(l *Line) {
	if l.Format != Format {
		r.bad("format", fmt.Sprintf("%q", l.Format), "want "+Format)
	}
	i := r.incident
	i.Start, i.Server, i.Profile = l.Time.UTC().Truncate(time.Second), l.ServerVersion, l.Profile
	for n, text := range l.Config {
		o, err := config.ParseOverride(text, i.File)
		if err != nil {
			r.bad(fmt.Sprintf("config[%d]", n), fmt.Sprintf("%q", text), err.Error())
		}
		i.Config = append(i.Config, o)
	}
}

// object takes in one that existed at the start, or what became of one.
func (r *reader) object(l *Line) {
	o := r.decode(l)
	if o == nil {
		return
	}
	key := api.KeyOf(o)
	before := r.known[key]
	r.known[key] = &version{o, l.Writers, true}
	for _, w := range l.Writers {
		r.incident.managers[w.Manager] = true
	}
	switch {
	case before != nil && before.object.GetResourceVersion() == o.GetResourceVersion() && o.GetResourceVersion() != "":
	case l.Type == Stood && before == nil && r.list(resourceOf(api.KeyOf(o))).times == 0:
		r.incident.Stood = append(r.incident.Stood, o)
	case before == nil:
		r.change(ObjectChange{Now: o})
	default:
		r.change(ObjectChange{Before: before.object, Now: o, By: fresh(before.writers, l.Writers)})
	}
}

func (r *reader) change(c ObjectChange) {
	c.Line, c.At = r.line, r.at
	r.incident.Changes = append(r.incident.Changes, c)
}

// fresh are the managers of entries that were not there before, but for those of the status.
func fresh(before, now []Writer) []string {
	var by []string
	for _, w := range now {
		same := func(b Writer) bool {
			return b.Manager == w.Manager && b.Subresource == w.Subresource && b.Time.Equal(&w.Time)
		}
		if w.Subresource == "" && !slices.ContainsFunc(before, same) {
			by = append(by, w.Manager)
		}
	}
	return by
}

func (r *reader) deletion(l *Line) {
	o := r.decode(l)
	if o == nil {
		return
	}
	if r.known[api.KeyOf(o)] != nil {
		r.drop(api.KeyOf(o))
	}
}

func (r *reader) drop(key api.Key) {
	r.change(ObjectChange{Before: r.known[key].object})
	delete(r.known, key)
}

// listed ends a list. What was known before a gap and is not in the list is gone.
func (r *reader) listed(l *Line) {
	list := r.list(l.Resource)
	if list.open {
		byName := func(a, b api.Key) int { return strings.Compare(a.String(), b.String()) }
		for _, key := range slices.SortedFunc(maps.Keys(r.known), byName) {
			if !r.known[key].seen && resourceOf(key) == l.Resource {
				r.drop(key)
			}
		}
	}
	list.times, list.open = list.times+1, false
}

// resourceOf names the resource of objects of a kind that an engine looks at.
func resourceOf(key api.Key) string { return catalog.Of(key).Name().String() }

func (r *reader) list(resource string) *list {
	if r.lists[resource] == nil {
		r.lists[resource] = &list{}
	}
	return r.lists[resource]
}

// broken takes in that a resource could not be followed. After a gap a list tells what there is.
func (r *reader) broken(l *Line) {
	if l.Resource == catalog.Leases.Name().String() {
		r.incident.broken = append(r.incident.broken, r.at)
	}
	if l.Type == Lost {
		return
	}
	r.note(fmt.Sprintf("changes of %s may be missing at %s: %s", l.Resource, r.at, l.Reason))
	r.list(l.Resource).open = true
	for key, v := range r.known {
		if resourceOf(key) == l.Resource {
			v.seen = false
		}
	}
}

// decode reads the object of a line; nil where there is none that an engine looks at.
func (r *reader) decode(l *Line) api.Object {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	// as objects of custom kinds are read: "apiversion" is another field
	if err := strict.UnmarshalCaseSensitivePreserveInts(l.Object, &head); err != nil {
		r.bad("object", "", "want an object")
		return nil
	}
	for _, f := range []struct{ name, value string }{
		{"apiVersion", head.APIVersion}, {"kind", head.Kind}, {"metadata.name", head.Metadata.Name},
	} {
		if f.value == "" {
			r.bad("object."+f.name, "", "required")
			return nil
		}
	}
	of := catalog.Of(api.Key{APIVersion: head.APIVersion, Kind: head.Kind})
	if of == nil {
		r.skipped[head.Kind]++
		return nil
	}
	o := of.New()
	if err := json.Unmarshal(l.Object, o); err != nil {
		r.bad("object", "", fmt.Sprintf("not a %s: %v", head.Kind, err))
		return nil
	}
	return o
}

func (r *reader) finish() {
	r.incident.Duration = max(r.at, time.Second)
	if !r.ended {
		r.note("there is no last line: the recorder was killed")
	}
	for _, kind := range slices.Sorted(maps.Keys(r.skipped)) {
		r.note(fmt.Sprintf("objects of kind %s are recorded and not replayed: nothing here is decided by them", kind))
	}
}
