package shrink

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
)

// history is a recording, taken apart into what can be omitted.
type history struct {
	ctx    context.Context
	config *Config
	want   *difference
	// compared is all that is compared of the whole recording.
	compared []replay.Comparison
	lines    []historyLine
	// families are the names of the families that are kept, changes the numbers of the lines of changes that are.
	families, changes []any
}

// historyLine is one line of a recording, without its object.
type historyLine struct {
	incident.Line
	raw []byte
	// of is the object that it is about, the zero key: none; family is what is omitted together: a binding with its resource and Works.
	of     api.Key
	family string
	change bool
}

// takeApart reads the lines, and writes settings, manifests and the end that flags give into them. The recording was read before, without
// a problem.
func (h *history) takeApart(data []byte) error {
	pinned := map[api.Key]bool{}
	for i := range h.config.With {
		pinned[api.KeyOf(h.config.With[i].Object)] = true
	}
	var start, last time.Time
	for raw := range bytes.Lines(data) {
		l, err := lineOf(bytes.TrimSuffix(raw, []byte("\n")))
		if err != nil { // the last one was cut off
			break
		}
		if last = l.Time; len(h.lines) > 0 && h.config.Until > 0 && last.Sub(start) > h.config.Until {
			last = start.Add(h.config.Until)
			break
		}
		switch {
		case len(h.lines) == 0:
			start = l.Time.Truncate(time.Second)
			err = h.settle(l)
		case l.Type == incident.End || l.change && pinned[l.of]:
			continue
		}
		if err != nil {
			return err
		}
		h.lines = append(h.lines, *l)
	}
	if err := h.pin(); err != nil {
		return err
	}
	end, err := written(incident.Line{Type: incident.End, Time: last, Reason: "shrunk"})
	if err != nil {
		return err
	}
	h.lines = append(h.lines, *end)
	seen := map[string]bool{}
	for i := range h.lines {
		if f := h.lines[i].family; f != "" && !seen[f] {
			seen[f] = true
			h.families = append(h.families, f)
		}
	}
	for i := range h.lines {
		if h.lines[i].change {
			h.changes = append(h.changes, i)
		}
	}
	return nil
}

// lineOf reads a line.
func lineOf(raw []byte) (*historyLine, error) {
	l := &historyLine{raw: raw}
	if err := json.Unmarshal(raw, &l.Line); err != nil {
		return nil, err
	}
	if l.Object == nil {
		return l, nil
	}
	var o unstructured.Unstructured
	if err := o.UnmarshalJSON(l.Object); err != nil {
		return nil, err
	}
	l.of, l.change = api.KeyOf(&o), l.Type != incident.Stood
	l.family = l.of.String()
	switch l.of.Kind {
	case "ResourceBinding", "ClusterResourceBinding":
		l.family = string(messages.NameBinding(l.of.Namespace, l.of.Name))
	case "Work":
		l.family = cmp.Or(string(observed.Binding(o.GetAnnotations())), l.family)
	default:
		if templates := catalog.Of(l.of); templates != nil && templates.Template() {
			l.family = string(messages.NameBinding(l.of.Namespace, propagation.BindingName(l.of.Kind, l.of.Name)))
		}
	}
	l.Object = nil
	return l, nil
}

// written is a line that no recorder wrote.
func written(l incident.Line) (*historyLine, error) {
	raw, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("write a %s of a recording: %w", l.Type, err)
	}
	return lineOf(raw)
}

// settle writes the settings of the run into the header. With at least one setting, nothing is inferred.
func (h *history) settle(header *historyLine) error {
	s := h.config.Scenario
	header.Profile = cmp.Or(h.config.Profile, s.Profile, config.Default)
	settings, problems := config.Resolve(header.Profile, slices.Concat(s.Config, h.config.Set))
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if header.Profile, header.Config = config.Describe(&settings); len(header.Config) == 0 {
		header.Config = []string{fmt.Sprintf("evictionWorkers=%d", settings.EvictionWorkers)}
	}
	whole, err := written(header.Line)
	if err == nil {
		*header = *whole
	}
	return err
}

// pin has the manifests of flags exist from the start: they are the first changes.
func (h *history) pin() error {
	at := slices.IndexFunc(h.lines, func(l historyLine) bool { return l.change })
	if at < 0 {
		at = len(h.lines)
	}
	for i := range h.config.With {
		object, err := json.Marshal(h.config.With[i].Object)
		if err != nil {
			return err
		}
		l, err := written(incident.Line{Type: incident.Modified, Time: h.lines[0].Time, Object: object})
		if err != nil {
			return err
		}
		h.lines = slices.Insert(h.lines, at+i, *l)
	}
	return nil
}

// left drops the changes of families that are omitted.
func (h *history) left() {
	families := asSet(h.families)
	h.changes = slices.DeleteFunc(h.changes, func(i any) bool { return !families[h.lines[i.(int)].family] })
}

func asSet(list []any) map[any]bool {
	all := make(map[any]bool, len(list))
	for _, v := range list {
		all[v] = true
	}
	return all
}

// kept are the lines that are not omitted.
func (h *history) kept() (lines []*historyLine) {
	families, changes := asSet(h.families), asSet(h.changes)
	for i := range h.lines {
		if l := &h.lines[i]; l.family == "" || families[l.family] && (!l.change || changes[i]) {
			lines = append(lines, l)
		}
	}
	return lines
}

// text is the recording without what is omitted. A list counts the objects that it has.
func (h *history) text() []byte {
	var text bytes.Buffer
	existing := map[string]int{}
	for _, l := range h.kept() {
		raw := l.raw
		if of := catalog.Of(l.of); of != nil && l.Type == incident.Stood {
			existing[of.Name().String()]++
		}
		if n := existing[l.Resource]; l.Type == incident.Listed && n != l.Objects {
			list := l.Line
			list.Objects = n
			if whole, err := written(list); err == nil { // it was read from one
				raw = whole.raw
			}
		}
		text.Write(raw)
		text.WriteByte('\n')
	}
	return text.Bytes()
}

// size counts the objects and the changes that are kept.
func (h *history) size() (s Size) {
	objects := map[api.Key]bool{}
	for _, l := range h.kept() {
		if l.family != "" && !objects[l.of] {
			objects[l.of] = true
			s.Objects++
		}
		if l.change {
			s.Changes++
		}
	}
	return s
}
