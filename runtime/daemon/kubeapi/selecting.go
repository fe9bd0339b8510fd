package kubeapi

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/storage"

	"leeward/runtime/daemon/engine"
)

// selectable returns the fields that a field selector may name, each with its value: besides the name those that
// kubectl and agents ask for. Source: kubernetes, pkg/registry/core.
func selectable(o engine.Object) fields.Set {
	set := fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()}
	switch o := o.(type) {
	case *corev1.Event:
		selectEvent(o, set)
	case *corev1.Namespace:
		set["status.phase"] = string(o.Status.Phase)
	case *corev1.Node:
		set["spec.unschedulable"] = strconv.FormatBool(o.Spec.Unschedulable)
	case *corev1.Pod:
		set["spec.nodeName"], set["spec.restartPolicy"] = o.Spec.NodeName, string(o.Spec.RestartPolicy)
		set["spec.schedulerName"], set["spec.serviceAccountName"] = o.Spec.SchedulerName, o.Spec.ServiceAccountName
		set["status.phase"], set["status.podIP"] = string(o.Status.Phase), o.Status.PodIP
		set["status.nominatedNodeName"] = o.Status.NominatedNodeName
	case *corev1.Secret:
		set["type"] = string(o.Type)
	}
	return set
}

func selectEvent(e *corev1.Event, set fields.Set) {
	about := e.InvolvedObject
	set["involvedObject.kind"], set["involvedObject.namespace"] = about.Kind, about.Namespace
	set["involvedObject.name"], set["involvedObject.uid"] = about.Name, string(about.UID)
	set["involvedObject.apiVersion"], set["involvedObject.fieldPath"] = about.APIVersion, about.FieldPath
	set["involvedObject.resourceVersion"] = about.ResourceVersion
	set["reason"], set["type"], set["source"] = e.Reason, e.Type, e.Source.Component
	set["reportingComponent"] = e.ReportingController
}

// attributes are what selectors look at. What is not an object of a table matches nothing.
func attributes(o runtime.Object) (labels.Set, fields.Set, error) {
	object, ok := o.(engine.Object)
	if !ok {
		return nil, nil, fmt.Errorf("select a %T: it has no metadata", o)
	}
	return object.GetLabels(), selectable(object), nil
}

// addSelectors makes the fields of a kind known; a selector with another one is refused.
func (k *kind) addSelectors(s *runtime.Scheme) error {
	var names []string
	for name := range selectable(k.New()) { // order-free: only looked up
		names = append(names, name)
	}
	return s.AddFieldLabelConversionFunc(k.Kind, func(label, value string) (string, string, error) {
		if !slices.Contains(names, label) {
			return "", "", fmt.Errorf("%q is not a field that %s can be selected by", label, k.Plural)
		}
		return label, value, nil
	})
}

// wordIn returns a word that occurs, in quotes, in the JSON of every object that is selected: the longest value that a field
// or a label must have. Empty: there is none.
func wordIn(selects storage.SelectionPredicate) (longest string) {
	consider := func(operator selection.Operator, values ...string) {
		exact := operator == selection.Equals || operator == selection.DoubleEquals || operator == selection.In
		if exact && len(values) == 1 && len(values[0]) > len(longest) && plain.MatchString(values[0]) {
			longest = values[0]
		}
	}
	if selects.Field != nil {
		for _, r := range selects.Field.Requirements() {
			consider(r.Operator, r.Value)
		}
	}
	required, _ := selects.Label.Requirements()
	for _, r := range required {
		consider(r.Operator(), r.ValuesUnsorted()...)
	}
	return longest
}

// plain is what JSON writes as it is.
var plain = regexp.MustCompile(`^[A-Za-z0-9._/-]*$`)
