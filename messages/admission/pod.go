package admission

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages"
)

// The rules and texts of this file are those of the API server of Kubernetes 1.37 for nodes and pods, its paths included.

// nodeTaints is where an API server says that the taints of a node are, although they are under spec; a manifest finds their line all the same.
var nodeTaints = field.NewPath("metadata", "taints")

// validateNodeTaints finds what an API server refuses of the taints of a node.
func validateNodeTaints(taints []corev1.Taint, path *field.Path) (errs field.ErrorList) {
	for i, t := range taints {
		at := path.Index(i)
		errs = append(errs, labelKey(t.Key, at.Child("key"))...)
		if bad := validation.IsValidLabelValue(t.Value); len(bad) > 0 {
			errs = append(errs, field.Invalid(at.Child("value"), t.Value, strings.Join(bad, ";")))
		}
		errs = append(errs, requiredOneOf(t.Effect, nodeEffects, at.Child("effect"))...)
		if same := func(other corev1.Taint) bool { return other.MatchTaint(&t) }; slices.ContainsFunc(taints[:i], same) {
			twice := field.Duplicate(at, struct {
				Key, Value, Effect string
				TimeAdded          any
			}{t.Key, t.Value, string(t.Effect), t.TimeAdded})
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
	}
	return errs
}

// validateMachineSet finds what nodes cannot have of what a MachineSet of OpenShift gives to those of its machines. Other objects pass.
func validateMachineSet(o *unstructured.Unstructured, spec *field.Path) field.ErrorList {
	if o.GetKind() != messages.KindNameMachineSet || o.GroupVersionKind().Group != "machine.openshift.io" {
		return nil
	}
	var set struct {
		Spec struct {
			Replicas int64 `json:"replicas"`
			Template struct {
				Spec struct {
					Metadata struct {
						Labels map[string]string `json:"labels"`
					} `json:"metadata"`
					Taints []corev1.Taint `json:"taints"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &set); err != nil {
		return field.ErrorList{field.Invalid(spec, o.GetName(), err.Error())}
	}
	machine, at := &set.Spec.Template.Spec, spec.Child("template", "spec")
	return slices.Concat(
		apivalidation.ValidateNonnegativeField(set.Spec.Replicas, spec.Child("replicas")),
		metav1validation.ValidateLabels(machine.Metadata.Labels, at.Child("metadata", "labels")),
		validateNodeTaints(machine.Taints, at.Child("taints")),
	)
}

// validatePodTolerations finds what an API server refuses of the tolerations of a pod or a pod template. Faults of a value are said of its
// operator. numeric is the gate of Lt and Gt: while it is off the operators are refused, in a message that lists them.
func validatePodTolerations(tolerations []corev1.Toleration, numeric bool, path *field.Path) (errs field.ErrorList) {
	for i, t := range tolerations {
		at := path.Index(i)
		operator := at.Child("operator")
		switch {
		case t.Key != "":
			errs = append(errs, labelKey(t.Key, at.Child("key"))...)
		case t.Operator != corev1.TolerationOpExists:
			errs = append(errs, field.Invalid(operator, t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		errs = append(errs, validatePodOperator(&t, numeric, at)...)
		errs = append(errs, oneOf(t.Effect, nodeEffects, at.Child("effect"))...)
	}
	return errs
}

func validatePodOperator(t *corev1.Toleration, numeric bool, toleration *field.Path) field.ErrorList {
	at := toleration.Child("operator")
	switch {
	case t.Operator == "" || t.Operator == corev1.TolerationOpEqual:
		if bad := validation.IsValidLabelValue(t.Value); len(bad) > 0 {
			return field.ErrorList{field.Invalid(at, t.Value, strings.Join(bad, ";"))}
		}
		return nil
	case t.Operator == corev1.TolerationOpExists:
		if t.Value != "" {
			return field.ErrorList{field.Invalid(at, t.Value, "value must be empty when `operator` is 'Exists'")}
		}
		return nil
	case isNumeric(t.Operator) && numeric:
		return validatePodNumber(t.Value, toleration.Child("value"))
	}
	return field.ErrorList{field.NotSupported(at, t.Operator, tolerationOperators(isNumeric(t.Operator)))}
}

// validatePodNumber wants what validateNumber wants. It may find two faults of one value.
func validatePodNumber(value string, at *field.Path) (errs field.ErrorList) {
	for _, bad := range content.IsDecimalInteger(value) {
		errs = append(errs, field.Invalid(at, value, bad))
	}
	if _, err := strconv.ParseInt(value, 10, 64); err != nil {
		errs = append(errs, field.Invalid(at, value, err.Error()))
	}
	return errs
}

// validatePodChange wants every toleration that a pod had to be there still; only its tolerationSeconds may be others. More may be added. Of
// what else it says, only what podSpecMayChange allows may be another; what it does not say is as it was.
func validatePodChange(p, old *corev1.Pod, spec *field.Path) (errs field.ErrorList) {
	for _, had := range old.Spec.Tolerations {
		still := func(t corev1.Toleration) bool {
			t.TolerationSeconds = had.TolerationSeconds
			return equality.Semantic.DeepEqual(t, had)
		}
		if !slices.ContainsFunc(p.Spec.Tolerations, still) {
			errs = append(errs, field.Forbidden(spec.Child("tolerations"), "existing toleration can not be modified except its tolerationSeconds"))
			break
		}
	}
	next, before := podSpecMayChange(&p.Spec, &old.Spec), reflect.ValueOf(&old.Spec).Elem()
	for i := range next.NumField() {
		if f := next.Field(i); !f.IsZero() && !equality.Semantic.DeepEqual(f.Interface(), before.Field(i).Interface()) {
			name, _, _ := strings.Cut(next.Type().Field(i).Tag.Get("json"), ",")
			errs = append(errs, field.Forbidden(spec.Child(name), "may not change: of the spec of a pod, only tolerations, activeDeadlineSeconds, schedulingGates and images may"))
		}
	}
	return errs
}

// podSpecMayChange is the spec of a pod without what may be another than before. A node may be given to a pod that has none: by a scheduler, for
// there is no pods/binding.
func podSpecMayChange(p, old *corev1.PodSpec) reflect.Value {
	c := p.DeepCopy()
	c.Tolerations, c.ActiveDeadlineSeconds, c.SchedulingGates = nil, nil, nil
	if old.NodeName == "" {
		c.NodeName = ""
	}
	for _, all := range [][2][]corev1.Container{{c.Containers, old.Containers}, {c.InitContainers, old.InitContainers}} {
		for i := range min(len(all[0]), len(all[1])) {
			all[0][i].Image = all[1][i].Image
		}
	}
	return reflect.ValueOf(c).Elem()
}

// KeepPod gives a pod that replaces another what its writer omitted of its spec, but for the tolerations and schedulingGates: nothing else can be taken
// off a pod.
func KeepPod(o, old any) {
	p, is := o.(*corev1.Pod)
	before, was := old.(*corev1.Pod)
	if !is || !was {
		return
	}
	kept := podSpecMayChange(&before.Spec, &corev1.PodSpec{NodeName: before.Spec.NodeName})
	next := reflect.ValueOf(&p.Spec).Elem()
	for i := range next.NumField() {
		if f := next.Field(i); f.IsZero() {
			f.Set(kept.Field(i))
		}
	}
}

// usesNumeric reports whether a pod has an operator Lt or Gt already: then an update may keep it while the gate is off.
func usesNumeric(tolerations []corev1.Toleration) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return isNumeric(t.Operator) })
}

// QOSClassOf returns the quality of service of a pod by what its containers ask for in processor and memory, or the pod as a whole where it
// does. Guaranteed: both are limited, and what is requested is the limit. BestEffort: nothing is asked for. A missing request is the
// limit. Source: Kubernetes, pod QoS.
func QOSClassOf(p *corev1.Pod) corev1.PodQOSClass {
	var needs []*corev1.ResourceRequirements
	if r := p.Spec.Resources; r != nil && len(r.Requests)+len(r.Limits) > 0 {
		needs = append(needs, r)
	} else {
		for i := range p.Spec.InitContainers {
			needs = append(needs, &p.Spec.InitContainers[i].Resources)
		}
		for i := range p.Spec.Containers {
			needs = append(needs, &p.Spec.Containers[i].Resources)
		}
	}
	guaranteed, any := len(needs) > 0, false
	for _, r := range needs {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, limited := r.Limits[name]
			limited = limited && !limit.IsZero()
			request, requested := r.Requests[name]
			requested = requested && !request.IsZero()
			any = any || limited || requested
			guaranteed = guaranteed && limited && (!requested || request.Cmp(limit) == 0)
		}
	}
	switch {
	case !any:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// validatePod finds what an API server refuses of a pod that is new, or of the tolerations of one that replaces old: the rest of it cannot change.
func validatePod(p *corev1.Pod, old any, s *messages.Settings, spec *field.Path) field.ErrorList {
	path := spec.Child("tolerations")
	before, replaces := old.(*corev1.Pod)
	if !replaces {
		return append(validatePodTolerations(p.Spec.Tolerations, s.NumericTolerations, path), validatePlacing(&p.Spec, spec)...)
	}
	errs := validatePodChange(p, before, spec)
	numeric := s.NumericTolerations || usesNumeric(before.Spec.Tolerations)
	return append(errs, validatePodTolerations(p.Spec.Tolerations, numeric, path)...)
}
