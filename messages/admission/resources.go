package admission

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
)

// Source of this file: Kubernetes, pkg/apis/{autoscaling,core,storage}/validation, which no library offers.

var metricTypes = []autoscalingv2.MetricSourceType{
	autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType, autoscalingv2.ObjectMetricSourceType,
	autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType,
}

// validateAutoscaler wants bounds that leave something between them, and metrics that are there.
func validateAutoscaler(s *autoscalingv2.HorizontalPodAutoscalerSpec, spec *field.Path) field.ErrorList {
	errs := append(count(s.MinReplicas, spec.Child("minReplicas")), notNegative(int64(s.MaxReplicas), spec.Child("maxReplicas"))...)
	if least := ptr.Deref(s.MinReplicas, 1); s.MaxReplicas > 0 && s.MaxReplicas < least {
		errs = append(errs, field.Invalid(spec.Child("maxReplicas"), s.MaxReplicas, "must be no less than minReplicas"))
	}
	for i := range s.Metrics {
		m, at := &s.Metrics[i], spec.Child("metrics").Index(i)
		errs = append(errs, requiredOneOf(m.Type, metricTypes, at.Child("type"))...)
		sources := map[autoscalingv2.MetricSourceType]bool{
			autoscalingv2.ContainerResourceMetricSourceType: m.ContainerResource != nil, autoscalingv2.ExternalMetricSourceType: m.External != nil,
			autoscalingv2.ObjectMetricSourceType: m.Object != nil, autoscalingv2.PodsMetricSourceType: m.Pods != nil,
			autoscalingv2.ResourceMetricSourceType: m.Resource != nil,
		}
		for _, kind := range metricTypes {
			source := at.Child(strings.ToLower(string(kind[:1])) + string(kind[1:]))
			switch {
			case kind == m.Type && !sources[kind]:
				errs = append(errs, field.Required(source, "type says so"))
			case kind != m.Type && sources[kind]:
				errs = append(errs, field.Forbidden(source, "type says "+string(m.Type)))
			}
		}
	}
	return errs
}

// requireAutoscaler wants an autoscaler to say what it scales, and how far.
func requireAutoscaler(s *autoscalingv2.HorizontalPodAutoscalerSpec, spec *field.Path) field.ErrorList {
	at := spec.Child("scaleTargetRef")
	errs := append(required(s.ScaleTargetRef.Kind, at.Child("kind")), required(s.ScaleTargetRef.Name, at.Child("name"))...)
	if s.MaxReplicas == 0 {
		errs = append(errs, field.Required(spec.Child("maxReplicas"), "1 or more"))
	}
	return errs
}

// validateHard wants the amounts of a quota of the member to be 0 or more. It limits nothing here.
func validateHard(s *corev1.ResourceQuotaSpec, spec *field.Path) (errs field.ErrorList) {
	hard := spec.Child("hard")
	for _, name := range slices.Sorted(maps.Keys(s.Hard)) {
		errs = append(errs, invalid(string(name), validation.IsQualifiedName(string(name)), hard.Key(string(name)))...)
	}
	return append(errs, validateAmounts(s.Hard, hard)...)
}

// validateLimitRange wants each type of limits once, and amounts between their bounds.
func validateLimitRange(s *corev1.LimitRangeSpec, spec *field.Path) (errs field.ErrorList) {
	taken := map[corev1.LimitType]bool{}
	for i := range s.Limits {
		l, at := &s.Limits[i], spec.Child("limits").Index(i)
		errs = append(errs, required(string(l.Type), at.Child("type"))...)
		if taken[l.Type] {
			errs = append(errs, field.Duplicate(at.Child("type"), l.Type))
		}
		taken[l.Type] = true
		for _, list := range []struct {
			name    string
			amounts corev1.ResourceList
		}{{"min", l.Min}, {"default", l.Default}, {"defaultRequest", l.DefaultRequest}} {
			errs = append(errs, validateAmounts(list.amounts, at.Child(list.name))...)
			errs = append(errs, noMoreThan("", l.Max, list.amounts, at.Child(list.name))...)
		}
		errs = append(errs, validateAmounts(l.Max, at.Child("max"))...)
		errs = append(errs, noMoreThan("", l.Default, l.DefaultRequest, at.Child("defaultRequest"))...)
	}
	return errs
}

// noMoreThan wants amounts to be no more than the most, where that is given. Errors may say what it is called.
func noMoreThan(called string, most, amounts corev1.ResourceList, at *field.Path) (errs field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		amount := amounts[name]
		if limit, limited := most[name]; limited && amount.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(at.Key(string(name)), amount.String(), "must be no more than "+called+limit.String()))
		}
	}
	return errs
}

var (
	reclaimPolicies = []corev1.PersistentVolumeReclaimPolicy{corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain}
	bindingModes    = []storagev1.VolumeBindingMode{storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer}
	accessModes     = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}
)

func validateStorageClass(c *storagev1.StorageClass) field.ErrorList {
	return append(
		oneOf(ptr.Deref(c.ReclaimPolicy, ""), reclaimPolicies, field.NewPath("reclaimPolicy")),
		oneOf(ptr.Deref(c.VolumeBindingMode, ""), bindingModes, field.NewPath("volumeBindingMode"))...,
	)
}

func validateVolume(s *corev1.PersistentVolumeSpec, spec *field.Path) field.ErrorList {
	errs := append(validateAmounts(s.Capacity, spec.Child("capacity")), oneOf(s.PersistentVolumeReclaimPolicy, reclaimPolicies, spec.Child("persistentVolumeReclaimPolicy"))...)
	for i, mode := range s.AccessModes {
		errs = append(errs, requiredOneOf(mode, accessModes, spec.Child("accessModes").Index(i))...)
	}
	return errs
}

// requireVolume wants a volume to say how large it is, who may use it, and where it is.
func requireVolume(s *corev1.PersistentVolumeSpec, spec *field.Path) (errs field.ErrorList) {
	if _, has := s.Capacity[corev1.ResourceStorage]; !has {
		errs = append(errs, field.Required(spec.Child("capacity").Key("storage"), ""))
	}
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(spec.Child("accessModes"), "at least one"))
	}
	if s.PersistentVolumeSource == (corev1.PersistentVolumeSource{}) {
		errs = append(errs, field.Required(spec, "a volume of some type"))
	}
	return errs
}

// validateCustomization wants a customization to be of a kind, and to say how that is read.
func validateCustomization(c *api.ResourceInterpreterCustomizationSpec, spec *field.Path) (errs field.ErrorList) {
	target, rules := spec.Child("target"), reflect.ValueOf(c.Customizations)
	if gv, err := schema.ParseGroupVersion(c.Target.APIVersion); err != nil || gv.Empty() {
		errs = append(errs, field.Invalid(target.Child("apiVersion"), c.Target.APIVersion, "want a version, with its group"))
	}
	if c.Target.Kind == "" {
		errs = append(errs, field.Required(target.Child("kind"), "of which kind"))
	}
	given := 0
	for i := range rules.NumField() {
		if rule, is := rules.Field(i).Interface().(*api.LuaRule); is && rule != nil {
			given++
			if rule.LuaScript == "" {
				name := rules.Type().Field(i).Tag.Get("json")
				errs = append(errs, field.Required(spec.Child("customizations", name[:len(name)-len(",omitempty")], "luaScript"), "a script"))
			}
		}
	}
	if given == 0 {
		errs = append(errs, field.Required(spec.Child("customizations"), "at least one script"))
	}
	return errs
}
