package interpreter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/admission"
	"leeward/messages/api"
)

// operation is what a script does.
type operation struct {
	// field and function are its names in a customization.
	field, function string
	rule            func(*api.CustomizationRules) *api.LuaRule
}

// The operations, by their fields.
var (
	retains    = &operation{"retention", "Retain", func(r *api.CustomizationRules) *api.LuaRule { return r.Retention }}
	counts     = &operation{"replicaResource", "GetReplicas", func(r *api.CustomizationRules) *api.LuaRule { return r.ReplicaResource }}
	components = &operation{"componentResource", "GetComponents", func(r *api.CustomizationRules) *api.LuaRule { return r.ComponentResource }}
	revises    = &operation{"replicaRevision", "ReviseReplica", func(r *api.CustomizationRules) *api.LuaRule { return r.ReplicaRevision }}
	reflects   = &operation{"statusReflection", "ReflectStatus", func(r *api.CustomizationRules) *api.LuaRule { return r.StatusReflection }}
	aggregates = &operation{"statusAggregation", "AggregateStatus", func(r *api.CustomizationRules) *api.LuaRule { return r.StatusAggregation }}
	judges     = &operation{"healthInterpretation", "InterpretHealth", func(r *api.CustomizationRules) *api.LuaRule { return r.HealthInterpretation }}
	depends    = &operation{"dependencyInterpretation", "GetDependencies", func(r *api.CustomizationRules) *api.LuaRule { return r.DependencyInterpretation }}

	operations = []*operation{retains, counts, components, revises, reflects, aggregates, judges, depends}
)

// Validate names the scripts of a customization that cannot be read.
func Validate(c *api.ResourceInterpreterCustomization) (problems field.ErrorList) {
	for _, op := range operations {
		rule := op.rule(&c.Spec.Customizations)
		if rule == nil {
			continue
		}
		path := field.NewPath("spec", "customizations", op.field, "luaScript")
		if len(rule.LuaScript) > MostScript {
			problems = append(problems, field.TooLong(path, "", MostScript))
		} else if _, err := compile(rule.LuaScript, op.function); err != nil {
			problems = append(problems, field.Invalid(path, field.OmitValueType{}, err.Error()))
		}
	}
	return problems
}

// Set is how all kinds are read. A nil one has no scripts.
type Set struct{ scripts map[of]*named }

// of is one operation of one kind.
type of struct {
	kind metav1.TypeMeta
	*operation
}

// named is a script, with the customization that has it.
type named struct {
	*script
	customization string
}

// New returns the scripts of customizations. Of several that have one for the same operation of a kind, the first by its name holds, as in Karmada.
// Scripts that cannot be read, which Validate refuses, do not count.
func New(all []*api.ResourceInterpreterCustomization) *Set {
	s := &Set{map[of]*named{}}
	all = slices.SortedFunc(slices.Values(all), func(a, b *api.ResourceInterpreterCustomization) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range all {
		for _, op := range operations {
			rule, at := op.rule(&c.Spec.Customizations), of{metav1.TypeMeta{APIVersion: c.Spec.Target.APIVersion, Kind: c.Spec.Target.Kind}, op}
			if rule == nil || s.scripts[at] != nil {
				continue
			}
			if compiled, err := compile(rule.LuaScript, op.function); err == nil {
				s.scripts[at] = &named{compiled, c.Name}
			}
		}
	}
	return s
}

// Failure says that a script could not read an object. What holds for its kind without the script is used in its place.
type Failure struct {
	Customization, Operation string
	Cause                    error
}

func (f *Failure) Error() string {
	return fmt.Sprintf("%s of ResourceInterpreterCustomization %s: %v", f.Operation, f.Customization, f.Cause)
}

func (f *Failure) Unwrap() error { return f.Cause }

// find returns the script for an operation of an object's kind; nil: there is none.
func (s *Set) find(o api.Object, op *operation) *named {
	if s == nil || len(s.scripts) == 0 {
		return nil
	}
	k := api.KeyOf(o)
	return s.scripts[of{metav1.TypeMeta{APIVersion: k.APIVersion, Kind: k.Kind}, op}]
}

// call runs a script on an object.
func call[T any](n *named, op *operation, results int, o api.Object, read func(object map[string]any, returned []lua.LValue) (T, error), more ...any) (T, error) {
	object, err := unstructuredOf(o)
	var result T
	if err == nil {
		var returned []lua.LValue
		if returned, err = n.run(results, append([]any{object}, more...)...); err == nil {
			result, err = read(object, returned)
		}
	}
	if err != nil {
		return result, &Failure{n.customization, op.field, err}
	}
	return result, nil
}

// needs is what a workload asks for.
type needs struct {
	replicas int32
	each     *api.ReplicaRequirements
}

// Replicas returns how many replicas an object has, and what each needs. Not known: no script says.
func (s *Set) Replicas(o api.Object) (replicas int32, each *api.ReplicaRequirements, known bool, err error) {
	n := s.find(o, counts)
	if n == nil {
		return 0, nil, false, nil
	}
	found, err := call(n, counts, 2, o, func(_ map[string]any, returned []lua.LValue) (needs, error) {
		replicas, is := returned[0].(lua.LNumber)
		if whole := int32(replicas); !is || lua.LNumber(whole) != replicas || whole < 0 {
			return needs{}, fmt.Errorf("replicas: want a whole number of 0 or more, not %s", returned[0])
		}
		each, err := into[*api.ReplicaRequirements](returned[1])
		if err != nil {
			return needs{}, fmt.Errorf("requirements: %w", err)
		}
		return needs{int32(replicas), each}, nil
	})
	return found.replicas, found.each, err == nil, err
}

// Components returns the pod templates of an object, with what one pod of each needs. Not known: no script says.
func (s *Set) Components(o api.Object) (all []api.Component, known bool, err error) {
	n := s.find(o, components)
	if n == nil {
		return nil, false, nil
	}
	all, err = call(n, components, 1, o, func(_ map[string]any, returned []lua.LValue) ([]api.Component, error) {
		all, err := into[[]api.Component](returned[0])
		if err != nil {
			return nil, err
		}
		if len(all) > mostComponents {
			return nil, fmt.Errorf("%d components: there may be %d", len(all), mostComponents)
		}
		return all, admission.ValidateComponents(all, field.NewPath("components")).ToAggregate()
	})
	return all, err == nil, err
}

// dependency is how a script names what an object refers to: one object, or all of a kind that have some labels.
type dependency struct {
	APIVersion    string                `json:"apiVersion"`
	Kind          string                `json:"kind"`
	Namespace     string                `json:"namespace,omitempty"`
	Name          string                `json:"name,omitempty"`
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}

// References are what an object refers to.
type References struct {
	Named    []api.Key
	Selected []Selection
}

// Selection is all objects of a kind in a namespace that have some labels.
type Selection struct {
	// Of has no name.
	Of     api.Key
	Labels labels.Selector
}

// Dependencies returns what an object refers to. Not known: no script says.
func (s *Set) Dependencies(o api.Object) (found References, known bool, err error) {
	n := s.find(o, depends)
	if n == nil {
		return References{}, false, nil
	}
	found, err = call(n, depends, 1, o, func(_ map[string]any, returned []lua.LValue) (found References, err error) {
		references, err := into[[]dependency](returned[0])
		if err == nil && len(references) > MostDependencies {
			err = fmt.Errorf("%d dependencies: there may be %d", len(references), MostDependencies)
		}
		for i := 0; i < len(references) && err == nil; i++ {
			if err = found.add(&references[i], o.GetNamespace()); err != nil {
				err = fmt.Errorf("dependency %d: %w", i+1, err)
			}
		}
		return found, err
	})
	return found, err == nil, err
}

// add adds a reference of an object in a namespace. A name goes before labels, as in Karmada.
func (r *References) add(d *dependency, namespace string) error {
	key := api.Key{APIVersion: d.APIVersion, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name}
	switch {
	case d.APIVersion == "" || d.Kind == "" || d.Name == "" && d.LabelSelector == nil:
		return errors.New("want apiVersion, kind, and name or labelSelector")
	case namespace != "" && d.Namespace != "" && d.Namespace != namespace:
		return fmt.Errorf("it is in namespace %s, not in that of the object", d.Namespace)
	case d.Name != "":
		r.Named = append(r.Named, key)
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(d.LabelSelector)
	if err != nil {
		return fmt.Errorf("labelSelector: %w", err)
	}
	r.Selected = append(r.Selected, Selection{key, selector})
	return nil
}

// Revise returns an object with other replicas. Not known: no script says how.
func (s *Set) Revise(o api.Object, replicas int32) (revised *unstructured.Unstructured, known bool, err error) {
	n := s.find(o, revises)
	if n == nil {
		return nil, false, nil
	}
	revised, err = call(n, revises, 1, o, sameObject(o), replicas)
	return revised, err == nil, err
}

// sameObject reads an object that a script returns, which must be the one that it was given.
func sameObject(given api.Object, like ...any) func(map[string]any, []lua.LValue) (*unstructured.Unstructured, error) {
	return func(object map[string]any, returned []lua.LValue) (*unstructured.Unstructured, error) {
		value, err := new(reading).fromLua(returned[0], 0, append([]any{object}, like...)...)
		if err != nil {
			return nil, err
		}
		fields, is := value.(map[string]any)
		if !is {
			return nil, errors.New("the script returns no object")
		}
		u := &unstructured.Unstructured{Object: fields}
		if is, was := api.KeyOf(u), api.KeyOf(given); is != was {
			return nil, fmt.Errorf("the script makes %s of %s", is, was)
		}
		return u, nil
	}
}

// Retain returns what is applied of an object where the member has it already. Not known: no script says.
func (s *Set) Retain(desired, observed *unstructured.Unstructured) (kept *unstructured.Unstructured, known bool, err error) {
	n := s.find(desired, retains)
	if n == nil {
		return nil, false, nil
	}
	kept, err = call(n, retains, 1, desired, sameObject(desired, observed.Object), observed.Object)
	return kept, err == nil, err
}

// Reflect returns what is reported of an object's status. Not known: no script says.
func (s *Set) Reflect(observed *unstructured.Unstructured) (status map[string]any, known bool, err error) {
	n := s.find(observed, reflects)
	if n == nil {
		return nil, false, nil
	}
	status, err = call(n, reflects, 1, observed, func(object map[string]any, returned []lua.LValue) (map[string]any, error) {
		v, err := new(reading).fromLua(returned[0], 0, object["status"])
		fields, is := v.(map[string]any)
		if err == nil && !is {
			err = fmt.Errorf("want a table with fields, not %s", returned[0])
		}
		return fields, err
	})
	return status, err == nil, err
}

// Health judges an object. Not known: no script says.
func (s *Set) Health(observed *unstructured.Unstructured) (healthy, known bool, err error) {
	n := s.find(observed, judges)
	if n == nil {
		return false, false, nil
	}
	healthy, err = call(n, judges, 1, observed, func(_ map[string]any, returned []lua.LValue) (bool, error) {
		v, is := returned[0].(lua.LBool)
		if !is {
			return false, fmt.Errorf("want true or false, not %s", returned[0])
		}
		return bool(v), nil
	})
	return healthy, err == nil, err
}

// Aggregate returns an object with the status that its copies add up to. Not known: no script says.
func (s *Set) Aggregate(o api.Object, items []api.AggregatedStatusItem) (status any, known bool, err error) {
	n := s.find(o, aggregates)
	if n == nil {
		return nil, false, nil
	}
	said, err := fieldsOf(append([]api.AggregatedStatusItem{}, items...)) // none is an empty list
	if err != nil {
		return nil, false, &Failure{n.customization, aggregates.field, err}
	}
	status, err = call(n, aggregates, 1, o, func(object map[string]any, returned []lua.LValue) (any, error) {
		u, err := sameObject(o)(object, returned)
		if err != nil {
			return nil, err
		}
		return u.Object["status"], nil
	}, said)
	return status, err == nil, err
}
