package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/expect"
)

// The types below read values that may be written in more than one form. The decoder hands them JSON
// and adds the place to their errors.

// duration is "90s", "1d12h" or a plain 0.
type duration time.Duration

func (d *duration) UnmarshalJSON(text []byte) error {
	parsed, err := span.Parse(strings.Trim(string(text), `"`))
	*d = duration(parsed)
	return err
}

// orElse returns the duration, or the default where it is not written.
func (d *duration) orElse(other time.Duration) time.Duration {
	if d == nil {
		return other
	}
	return time.Duration(*d)
}

// startup is a duration, or a range of them.
type startup struct {
	// The shortest.
	Min duration `json:"min"`
	// The longest.
	Max duration `json:"max" schema:"required"`
}

func (s *startup) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		err := s.Min.UnmarshalJSON(text)
		s.Max = s.Min
		return err
	}
	type plain startup
	if err := strictly(text, (*plain)(s)); err != nil {
		return err
	}
	if s.Min > s.Max {
		return errors.New("min must not be more than max")
	}
	return nil
}

// bounds is a number, or the least and the most.
type bounds struct {
	// At least so many. Default 0.
	Min *int `json:"min"`
	// At most so many. Default: any number.
	Max *int `json:"max"`
}

func (b *bounds) UnmarshalJSON(text []byte) error {
	type plain bounds
	var n int
	switch {
	case text[0] == '{':
		if err := strictly(text, (*plain)(b)); err != nil {
			return err
		}
	case json.Unmarshal(text, &n) != nil:
		return errors.New("want a number or {min, max}")
	default:
		b.Min, b.Max = &n, &n
	}
	_, err := b.read()
	return err
}

// read returns the range that is meant.
func (b *bounds) read() (expect.Bounds, error) {
	r := expect.Bounds{Max: expect.Unbounded}
	if b.Min != nil {
		r.Min = *b.Min
	}
	if b.Max != nil {
		r.Max = *b.Max
	}
	switch {
	case b.Min == nil && b.Max == nil:
		return r, errors.New("want min or max")
	case r.Min < 0 || r.Max < 0:
		return r, errors.New("must not be negative")
	case r.Min > r.Max:
		return r, errors.New("min must not be more than max")
	}
	return r, nil
}

// yes is true, or an empty mapping.
type yes struct{}

func (*yes) UnmarshalJSON(text []byte) error {
	if s := string(text); s != "true" && s != "{}" {
		return errors.New("want true")
	}
	return nil
}

// taintSpec is a taint in kubectl's grammar, or an object.
type taintSpec corev1.Taint

func (t *taintSpec) UnmarshalJSON(text []byte) error {
	if text[0] == '{' {
		if err := strictly(text, (*corev1.Taint)(t)); err != nil {
			return err
		}
		text, _ = json.Marshal(taint.String((*corev1.Taint)(t)))
	}
	var spec string
	if json.Unmarshal(text, &spec) != nil {
		return errors.New("want a taint such as key=value:Effect, or {key, value, effect}")
	}
	changes, err := taint.Parse([]string{spec})
	if err != nil {
		return err
	}
	if len(changes.Add) != 1 {
		return errors.New("must not remove a taint")
	}
	timeAdded := t.TimeAdded
	*t = taintSpec(changes.Add[0])
	t.TimeAdded = timeAdded
	return nil
}

// resources are amounts by resource, as a mapping or in one line: cpu=4,memory=8Gi,pods=110.
type resources corev1.ResourceList

func (r *resources) UnmarshalJSON(text []byte) error {
	amounts := corev1.ResourceList{}
	if text[0] == '{' {
		if err := strictly(text, &amounts); err != nil {
			return err
		}
	} else if err := amountsIn(text, amounts); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		if amount := amounts[name]; amount.Sign() < 0 {
			return fmt.Errorf("%s must not be negative", name)
		}
	}
	*r = resources(amounts)
	return nil
}

// amountsIn reads a line of amounts.
func amountsIn(text []byte, into corev1.ResourceList) error {
	var line string
	if json.Unmarshal(text, &line) != nil || line == "" {
		return errors.New("want amounts such as cpu=4,memory=8Gi,pods=110, or a mapping")
	}
	for part := range strings.SplitSeq(line, ",") {
		name, written, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found || name == "" {
			return fmt.Errorf("want amounts such as cpu=4,memory=8Gi,pods=110, not %q", part)
		}
		amount, err := resource.ParseQuantity(written)
		if err != nil {
			return fmt.Errorf("%s: %q is no amount, such as 4, 500m or 8Gi", name, written)
		}
		if _, twice := into[corev1.ResourceName(name)]; twice {
			return fmt.Errorf("sets %s twice", name)
		}
		into[corev1.ResourceName(name)] = amount
	}
	return nil
}

// conditions are a mapping from type to status, or a list.
type conditions []condition

type condition struct {
	// Type of the condition, such as Ready.
	Type string `json:"type" schema:"required"`
	// Status of the condition.
	Status string `json:"status" schema:"True|False|Unknown|"`
	// Reason of the condition, in one word.
	Reason string `json:"reason"`
	// Message of the condition.
	Message string `json:"message"`
}

func (c *conditions) UnmarshalJSON(text []byte) error {
	if text[0] == '{' {
		var statuses map[string]string
		if err := strictly(text, &statuses); err != nil {
			return err
		}
		for kind, status := range statuses {
			*c = append(*c, condition{Type: kind, Status: status})
		}
		slices.SortFunc(*c, func(a, b condition) int { return strings.Compare(a.Type, b.Type) })
	} else if err := strictly(text, (*[]condition)(c)); err != nil {
		return err
	}
	for i, one := range *c {
		switch {
		case one.Type == "":
			return errors.New("want a type in every condition")
		case !isStatus(one.Status):
			return fmt.Errorf("status of %s must be True, False or Unknown, in quotes", one.Type)
		case slices.ContainsFunc((*c)[:i], func(o condition) bool { return o.Type == one.Type }):
			return fmt.Errorf("sets %s twice", one.Type)
		}
	}
	return nil
}

func isStatus(s string) bool { return slices.Contains([]string{"True", "False", "Unknown", ""}, s) }

func (c conditions) objects() []metav1.Condition {
	objects := make([]metav1.Condition, len(c))
	for i, one := range c {
		objects[i] = metav1.Condition{
			Type: one.Type, Status: metav1.ConditionStatus(one.Status), Reason: one.Reason, Message: one.Message,
		}
	}
	return objects
}

// labelEdits are labels to set, and nil for those to remove.
type labelEdits map[string]*string

func (l *labelEdits) UnmarshalJSON(text []byte) error {
	return strictly(text, (*map[string]*string)(l))
}

// shares are a mapping from cluster to replicas, or a list of clusters.
type shares []expect.Share

func (s *shares) UnmarshalJSON(text []byte) error {
	*s = shares{}
	var names []string
	if text[0] == '[' {
		if err := strictly(text, &names); err != nil {
			return err
		}
		for _, name := range names {
			*s = append(*s, expect.Share{Cluster: name, Replicas: -1})
		}
		return s.check()
	}
	var replicas map[string]*int32
	if err := strictly(text, &replicas); err != nil {
		return err
	}
	for name, n := range replicas {
		if n == nil || *n < 0 {
			return fmt.Errorf("want a number of replicas, 0 or more, for %s", name)
		}
		*s = append(*s, expect.Share{Cluster: name, Replicas: *n})
	}
	slices.SortFunc(*s, func(a, b expect.Share) int { return strings.Compare(a.Cluster, b.Cluster) })
	return s.check()
}

func (s *shares) check() error {
	for i, one := range *s {
		if slices.ContainsFunc((*s)[:i], func(o expect.Share) bool { return o.Cluster == one.Cluster }) {
			return fmt.Errorf("names %s twice", one.Cluster)
		}
	}
	return nil
}

// tasks are the clusters that tasks leave, or fields of the tasks.
type tasks []map[string]any

func (t *tasks) UnmarshalJSON(text []byte) error {
	var list []any
	if json.Unmarshal(text, &list) != nil {
		return errors.New("want a list of clusters or of tasks")
	}
	*t = tasks{}
	for _, item := range list {
		switch item := item.(type) {
		case string:
			*t = append(*t, expect.TaskFrom(item))
		case map[string]any:
			*t = append(*t, item)
		default:
			return errors.New("want the name of a cluster, or fields of a task, in each item")
		}
	}
	return nil
}

// strictly reads JSON and rejects fields that there are not.
func strictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("want %s in %s, not %s", jsonName(wrong), wrong.Field, wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("want %s, not %s", jsonName(wrong), wrong.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// jsonName says what JSON has for the Go type that was wanted.
func jsonName(err *json.UnmarshalTypeError) string {
	switch err.Type.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	default:
		return "a number"
	}
}
