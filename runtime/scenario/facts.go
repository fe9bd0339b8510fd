package scenario

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"leeward/messages"
)

// facts are all kinds of facts, so that a slip in an event is found before the run.
var facts = kindsOf(
	&messages.ConditionChanged{}, &messages.ConditionRemoved{}, &messages.TaintAdded{}, &messages.TaintRemoved{},
	&messages.LabelsChanged{}, &messages.ClusterSpecChanged{}, &messages.CapacityChanged{},
	&messages.HeartbeatStopped{}, &messages.HeartbeatReturned{}, &messages.ClusterLeaving{},
	&messages.ClusterRemoved{}, &messages.PolicyIgnored{},
	&messages.BindingCreated{}, &messages.BindingUpdated{}, &messages.BindingDeleted{}, &messages.Scheduled{},
	&messages.PlacementConfirmed{},
	&messages.ScheduleFailed{}, &messages.CountdownStarted{}, &messages.CountdownStopped{}, &messages.EvictionHeld{},
	&messages.EvictionStarted{}, &messages.EvictionEnded{}, &messages.EvictionWithdrawn{}, &messages.ReleaseHeld{},
	&messages.CopyStarted{}, &messages.CopyScaled{}, &messages.CopyStopped{}, &messages.HealthChanged{},
	&messages.HealthForgotten{}, &messages.RescheduleRequested{},
	&messages.ObjectApplied{}, &messages.ObjectDeleted{}, &messages.ObjectRejected{}, &messages.Scaled{},
	&messages.SettingChanged{}, &messages.Restarted{},
)

func kindsOf(all ...messages.Fact) map[string]reflect.Type {
	kinds := make(map[string]reflect.Type, len(all))
	for _, f := range all {
		kinds[f.Kind()] = reflect.TypeOf(f).Elem()
	}
	return kinds
}

// factKinds returns the names of all facts, sorted.
func factKinds() []string { return slices.Sorted(maps.Keys(facts)) }

// unknownField returns the error of a tree that has a field which a Go type has not, as JSON sees it. A
// type that reads itself, or holds anything, has every field.
func unknownField(tree any, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if readsItself(t) {
		return nil
	}
	switch tree := tree.(type) {
	case map[string]any:
		return unknownMember(tree, t)
	case []any:
		for i := 0; t.Kind() == reflect.Slice && i < len(tree); i++ {
			if err := unknownField(tree[i], t.Elem()); err != nil {
				return err
			}
		}
	}
	return nil
}

func unknownMember(tree map[string]any, t reflect.Type) error {
	if t.Kind() != reflect.Struct {
		return nil
	}
	fields := fieldsOf(t)
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		field, ok := fields[name]
		if !ok {
			return fmt.Errorf("has no field %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if err := unknownField(tree[name], field); err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
	}
	return nil
}

// fieldsOf returns the types of a struct's fields by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); {
		case name == "-":
		case name == "" && f.Anonymous:
			maps.Copy(fields, fieldsOf(f.Type))
		case name != "":
			fields[name] = f.Type
		}
	}
	return fields
}
