package admission

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// defaultWorkload sets the counts and what a role is for as Kubernetes does, and keeps secrets as it does; whatever else it defaults, Leeward does not read.
func defaultWorkload(o api.Object) {
	if replicas := api.WorkloadOf(o).Replicas; replicas != nil {
		*replicas = orElse(*replicas, 1)
	}
	switch o := o.(type) {
	case *batchv1.Job:
		if o.Spec.Parallelism == nil && o.Spec.Completions == nil {
			o.Spec.Completions = orElse(o.Spec.Completions, 1)
		}
		o.Spec.Parallelism = orElse(o.Spec.Parallelism, 1)
	case *corev1.Secret:
		defaultSecret(o)
	case *autoscalingv2.HorizontalPodAutoscaler:
		o.Spec.MinReplicas = orElse(o.Spec.MinReplicas, 1)
	case *networkingv1.NetworkPolicy:
		defaultNetworkPolicy(&o.Spec)
	case *rbacv1.RoleBinding:
		defaultRoleRef(&o.RoleRef, o.Subjects)
	case *rbacv1.ClusterRoleBinding:
		defaultRoleRef(&o.RoleRef, o.Subjects)
	}
}

// defaultSecret keeps what is written as text as data, which it overrides. Source: kubernetes, pkg/apis/core/v1.
func defaultSecret(s *corev1.Secret) {
	if s.Type == "" {
		s.Type = corev1.SecretTypeOpaque
	}
	if len(s.StringData) == 0 {
		return
	}
	data := make(map[string][]byte, len(s.Data)+len(s.StringData))
	maps.Copy(data, s.Data)
	for key, text := range s.StringData { // order-free: each has its own place
		data[key] = []byte(text)
	}
	s.Data, s.StringData = data, nil
}

// validateWorkload checks what decides where a workload runs: its counts, its selector and what its
// pods ask for. A selector or containers may be missing, so that a scenario may be short; ValidateForMember wants them.
func validateWorkload(o api.Object, numeric bool, spec *field.Path) field.ErrorList {
	replicas := spec.Child("replicas")
	switch o := o.(type) {
	case *appsv1.Deployment:
		errs := append(count(o.Spec.Replicas, replicas), validateRollout(&o.Spec, spec)...)
		return append(errs, validatePods(o.Spec.Selector, &o.Spec.Template, numeric, spec)...)
	case *appsv1.StatefulSet:
		errs := append(count(o.Spec.Replicas, replicas), validateUpdates(&o.Spec, spec)...)
		return append(errs, validatePods(o.Spec.Selector, &o.Spec.Template, numeric, spec)...)
	case *appsv1.ReplicaSet:
		return append(count(o.Spec.Replicas, replicas), validatePods(o.Spec.Selector, &o.Spec.Template, numeric, spec)...)
	case *appsv1.DaemonSet:
		return append(validateDaemons(&o.Spec, spec), validatePods(o.Spec.Selector, &o.Spec.Template, numeric, spec)...)
	case *batchv1.Job:
		errs := append(count(o.Spec.Parallelism, spec.Child("parallelism")), count(o.Spec.Completions, spec.Child("completions"))...)
		return append(errs, validatePods(o.Spec.Selector, &o.Spec.Template, numeric, spec)...)
	case *batchv1.CronJob:
		job := &o.Spec.JobTemplate.Spec
		return append(validateCronJob(&o.Spec, spec), validatePods(job.Selector, &job.Template, numeric, spec.Child("jobTemplate", "spec"))...)
	}
	return nil
}

// validateRollout checks how a Deployment rolls a new template out. Source: ValidateDeploymentStrategy of Kubernetes.
func validateRollout(d *appsv1.DeploymentSpec, spec *field.Path) (errs field.ErrorList) {
	if d.MinReadySeconds < 0 {
		errs = append(errs, field.Invalid(spec.Child("minReadySeconds"), d.MinReadySeconds, "must be 0 or more"))
	}
	strategy := spec.Child("strategy")
	rolling, at := d.Strategy.RollingUpdate, strategy.Child("rollingUpdate")
	switch d.Strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if rolling != nil {
			errs = append(errs, field.Forbidden(at, "may not be specified when strategy type is 'Recreate'"))
		}
		return errs
	case "", appsv1.RollingUpdateDeploymentStrategyType:
	default:
		return append(errs, field.NotSupported(strategy.Child("type"), d.Strategy.Type, []appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}))
	}
	if rolling == nil {
		return errs
	}
	surge, wrong := share(rolling.MaxSurge, at.Child("maxSurge"))
	unavailable, more := share(rolling.MaxUnavailable, at.Child("maxUnavailable"))
	errs = append(append(errs, wrong...), more...)
	switch {
	case len(errs) > 0:
	case unavailable > 100 && rolling.MaxUnavailable.Type == intstr.String:
		errs = append(errs, field.Invalid(at.Child("maxUnavailable"), rolling.MaxUnavailable.String(), "must not be greater than 100%"))
	case surge == 0 && unavailable == 0:
		errs = append(errs, field.Invalid(at.Child("maxUnavailable"), unavailable, "may not be 0 when maxSurge is 0"))
	}
	return errs
}

// validateUpdates checks how a StatefulSet replaces the pods of an older template. Source: ValidateStatefulSetSpec of Kubernetes.
func validateUpdates(set *appsv1.StatefulSetSpec, spec *field.Path) (errs field.ErrorList) {
	if set.MinReadySeconds < 0 {
		errs = append(errs, field.Invalid(spec.Child("minReadySeconds"), set.MinReadySeconds, "must be 0 or more"))
	}
	at := spec.Child("updateStrategy")
	rolling := set.UpdateStrategy.RollingUpdate
	switch set.UpdateStrategy.Type {
	case appsv1.OnDeleteStatefulSetStrategyType:
		if rolling != nil {
			errs = append(errs, field.Forbidden(at.Child("rollingUpdate"), "may not be specified when strategy type is 'OnDelete'"))
		}
	case "", appsv1.RollingUpdateStatefulSetStrategyType:
		if rolling != nil {
			errs = append(errs, count(rolling.Partition, at.Child("rollingUpdate", "partition"))...)
		}
	default:
		errs = append(errs, field.NotSupported(at.Child("type"), set.UpdateStrategy.Type, []appsv1.StatefulSetUpdateStrategyType{appsv1.OnDeleteStatefulSetStrategyType, appsv1.RollingUpdateStatefulSetStrategyType}))
	}
	return errs
}

// validateDaemons checks how a DaemonSet replaces the pods of an older template. Source: ValidateDaemonSetUpdateStrategy of Kubernetes.
func validateDaemons(set *appsv1.DaemonSetSpec, spec *field.Path) (errs field.ErrorList) {
	if set.MinReadySeconds < 0 {
		errs = append(errs, field.Invalid(spec.Child("minReadySeconds"), set.MinReadySeconds, "must be 0 or more"))
	}
	at := spec.Child("updateStrategy")
	switch set.UpdateStrategy.Type {
	case appsv1.OnDeleteDaemonSetStrategyType, "", appsv1.RollingUpdateDaemonSetStrategyType:
	default:
		errs = append(errs, field.NotSupported(at.Child("type"), set.UpdateStrategy.Type, []appsv1.DaemonSetUpdateStrategyType{appsv1.OnDeleteDaemonSetStrategyType, appsv1.RollingUpdateDaemonSetStrategyType}))
	}
	if r := set.UpdateStrategy.RollingUpdate; r != nil {
		errs = append(errs, validateDaemonRollout(r, at.Child("rollingUpdate"))...)
	}
	return errs
}

// validateDaemonRollout wants either more pods or fewer during a rollout, not both, and not neither.
func validateDaemonRollout(r *appsv1.RollingUpdateDaemonSet, at *field.Path) field.ErrorList {
	unavailable, errs := share(r.MaxUnavailable, at.Child("maxUnavailable"))
	surge, wrong := 0, field.ErrorList(nil)
	if r.MaxSurge != nil {
		surge, wrong = share(r.MaxSurge, at.Child("maxSurge"))
	}
	errs = append(errs, wrong...)
	switch {
	case len(errs) > 0:
	case surge > 0 && unavailable > 0:
		errs = append(errs, field.Invalid(at.Child("maxSurge"), r.MaxSurge.String(), "may not be set when maxUnavailable is non-zero"))
	case surge == 0 && unavailable == 0:
		errs = append(errs, field.Required(at.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

// share reads a number, or a percentage of a hundred; one that is not written is more than none.
func share(of *intstr.IntOrString, at *field.Path) (int, field.ErrorList) {
	if of == nil {
		return 1, nil
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(of, 100, true)
	if err != nil || n < 0 {
		return 0, field.ErrorList{field.Invalid(at, of.String(), "must be a whole number of 0 or more, or a percentage such as 25%")}
	}
	return n, nil
}

func validatePods(selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, numeric bool, spec *field.Path) field.ErrorList {
	errs := labelSelector(selector, spec.Child("selector"))
	if selector != nil && len(errs) == 0 {
		if chosen, err := metav1.LabelSelectorAsSelector(selector); err == nil && !chosen.Matches(labels.Set(template.Labels)) {
			errs = append(errs, field.Invalid(spec.Child("template", "metadata", "labels"), template.Labels, "must match selector"))
		}
	}
	errs = append(errs, validatePodTolerations(template.Spec.Tolerations, numeric, spec.Child("template", "spec", "tolerations"))...)
	return append(errs, validatePlacing(&template.Spec, spec.Child("template", "spec"))...)
}

// validateNeeds wants no amount of a container to be negative, and no request to exceed its limit.
func validateNeeds(r *corev1.ResourceRequirements, at *field.Path) field.ErrorList {
	errs := append(validateAmounts(r.Requests, at.Child("requests")), validateAmounts(r.Limits, at.Child("limits"))...)
	return append(errs, noMoreThan("the limit, ", r.Limits, r.Requests, at.Child("requests"))...)
}

func validateAmounts(amounts corev1.ResourceList, path *field.Path) (errs field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		if amount := amounts[name]; amount.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), amount.String(), "must be 0 or more"))
		}
	}
	return errs
}
