package admission

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // what zones there are must not depend on the machine

	"github.com/robfig/cron/v3"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// ValidateForMember finds what the clusters would refuse of an object that is written for them, and Validate lets pass because a
// scenario may be short: a workload without a selector, containers or images. What was wrong with the object that it replaces,
// old, passes: who scales a workload that is there already need not mend it.
//
// Source of this file: Kubernetes, pkg/apis/{apps,batch,core}/validation, which no library offers. docs/api.md lists what it has
// and this has not.
func ValidateForMember(o, old api.Object) field.ErrorList {
	errs := incomplete(o)
	if old == nil || len(errs) == 0 {
		return errs
	}
	before := incomplete(old)
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		return slices.ContainsFunc(before, func(b *field.Error) bool { return b.Error() == e.Error() })
	})
}

func incomplete(o api.Object) field.ErrorList {
	spec := field.NewPath("spec")
	template, at := podTemplate(o, spec)
	if template == nil {
		return incompleteTemplate(o, spec)
	}
	errs := requireContainers(&template.Spec, at.Child("spec"))
	if selector := api.WorkloadOf(o).Selector; selector != nil {
		return append(errs, requireSelector(*selector, spec)...)
	}
	if template.Spec.RestartPolicy == "" {
		errs = append(errs, field.Required(at.Child("spec", "restartPolicy"), "a Job's pods are restarted OnFailure or Never"))
	}
	return errs
}

// incompleteTemplate is incomplete of what has no template of pods.
func incompleteTemplate(o api.Object, spec *field.Path) field.ErrorList {
	switch o := o.(type) {
	case *corev1.Pod:
		return append(requireContainers(&o.Spec, spec), oneOf(o.Spec.RestartPolicy, podRestarts, spec.Child("restartPolicy"))...)
	case *autoscalingv2.HorizontalPodAutoscaler:
		return requireAutoscaler(&o.Spec, spec)
	case *networkingv1.Ingress:
		return requireIngress(&o.Spec, spec)
	case *networkingv1.IngressClass:
		return requireIngressClass(&o.Spec, spec)
	case *storagev1.StorageClass:
		return required(o.Provisioner, field.NewPath("provisioner"))
	case *corev1.PersistentVolume:
		return requireVolume(&o.Spec, spec)
	}
	return nil
}

func requireSelector(selector *metav1.LabelSelector, spec *field.Path) field.ErrorList {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return field.ErrorList{field.Required(spec.Child("selector"), "it says which pods are the workload's")}
	}
	return nil
}

func requireContainers(pod *corev1.PodSpec, at *field.Path) (errs field.ErrorList) {
	if len(pod.Containers) == 0 {
		errs = append(errs, field.Required(at.Child("containers"), "at least one container"))
	}
	taken := map[string]bool{}
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"initContainers", pod.InitContainers}, {"containers", pod.Containers}} {
		for i := range list.containers {
			c, at := &list.containers[i], at.Child(list.name).Index(i)
			errs = append(errs, required(c.Image, at.Child("image"))...)
			errs = append(errs, required(c.Name, at.Child("name"))...)
			if c.Name != "" {
				errs = append(errs, invalid(c.Name, validation.IsDNS1123Label(c.Name), at.Child("name"))...)
			}
			if taken[c.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
			}
			taken[c.Name] = c.Name != ""
		}
	}
	return errs
}

var podRestarts = []corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}

// restarts are how the pods of a kind may be restarted, as far as they say; nil: as they want.
func restarts(o api.Object) []corev1.RestartPolicy {
	switch o.(type) {
	case *batchv1.Job, *batchv1.CronJob:
		return []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}
	}
	return []corev1.RestartPolicy{corev1.RestartPolicyAlways}
}

// validateRestarts wants the pods of a workload to be restarted as its kind lets them.
func validateRestarts(o api.Object, spec *field.Path) field.ErrorList {
	template, at := podTemplate(o, spec)
	if template == nil {
		return nil
	}
	return oneOf(template.Spec.RestartPolicy, restarts(o), at.Child("spec", "restartPolicy"))
}

var concurrencies = []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}

// validateCronJob wants a schedule that cron understands, as the controller of Kubernetes reads it.
func validateCronJob(c *batchv1.CronJobSpec, spec *field.Path) field.ErrorList {
	schedule := spec.Child("schedule")
	errs := required(c.Schedule, schedule)
	switch {
	case c.Schedule == "":
	case strings.Contains(c.Schedule, "TZ"):
		errs = append(errs, field.Invalid(schedule, c.Schedule, "the time zone goes into timeZone"))
	default:
		if _, err := cron.ParseStandard(c.Schedule); err != nil {
			errs = append(errs, field.Invalid(schedule, c.Schedule, err.Error()))
		}
	}
	if zone := c.TimeZone; zone != nil {
		if _, err := time.LoadLocation(*zone); err != nil || *zone == "" || strings.EqualFold(*zone, "Local") {
			errs = append(errs, field.Invalid(spec.Child("timeZone"), *zone, "must be a time zone such as Europe/Berlin"))
		}
	}
	if s := c.StartingDeadlineSeconds; s != nil {
		errs = append(errs, notNegative(*s, spec.Child("startingDeadlineSeconds"))...)
	}
	return slices.Concat(errs,
		oneOf(c.ConcurrencyPolicy, concurrencies, spec.Child("concurrencyPolicy")),
		count(c.SuccessfulJobsHistoryLimit, spec.Child("successfulJobsHistoryLimit")),
		count(c.FailedJobsHistoryLimit, spec.Child("failedJobsHistoryLimit")),
	)
}

var (
	serviceTypes = []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeExternalName}
	protocols    = []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}
)

// validateService wants ports that there can be, each once, with names where there are several.
func validateService(s *corev1.ServiceSpec, spec *field.Path) field.ErrorList {
	errs := oneOf(s.Type, serviceTypes, spec.Child("type"))
	ports := spec.Child("ports")
	switch external := s.Type == corev1.ServiceTypeExternalName; {
	case external:
		errs = append(errs, required(s.ExternalName, spec.Child("externalName"))...)
	case len(s.Ports) == 0 && s.ClusterIP != corev1.ClusterIPNone:
		errs = append(errs, field.Required(ports, "at least one port, unless clusterIP is None"))
	}
	type number struct {
		protocol corev1.Protocol
		port     int32
	}
	numbers, names := map[number]bool{}, map[string]bool{}
	for i := range s.Ports {
		p, at := &s.Ports[i], ports.Index(i)
		errs = append(errs, validatePort(p, len(s.Ports) > 1, at)...)
		n := number{p.Protocol, p.Port}
		n.protocol = cmp.Or(n.protocol, corev1.ProtocolTCP)
		if numbers[n] {
			errs = append(errs, field.Duplicate(at.Child("port"), p.Port))
		}
		if names[p.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
		}
		numbers[n], names[p.Name] = true, p.Name != ""
	}
	return errs
}

func validatePort(p *corev1.ServicePort, several bool, at *field.Path) field.ErrorList {
	errs := oneOf(p.Protocol, protocols, at.Child("protocol"))
	switch {
	case p.Name != "":
		errs = append(errs, invalid(p.Name, validation.IsDNS1123Label(p.Name), at.Child("name"))...)
	case several:
		errs = append(errs, field.Required(at.Child("name"), "each of several ports needs one"))
	}
	errs = append(errs, validatePortNumber(p.Port, at.Child("port"))...)
	if p.NodePort != 0 {
		errs = append(errs, validatePortNumber(p.NodePort, at.Child("nodePort"))...)
	}
	target := at.Child("targetPort")
	switch {
	case p.TargetPort.Type == intstr.String:
		errs = append(errs, invalid(p.TargetPort.StrVal, validation.IsValidPortName(p.TargetPort.StrVal), target)...)
	case p.TargetPort.IntVal != 0:
		errs = append(errs, validatePortNumber(p.TargetPort.IntVal, target)...)
	}
	return errs
}

// validateConfigMap holds a ConfigMap to its size and its keys.
func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	data, binary := field.NewPath("data"), field.NewPath("binaryData")
	errs := append(validateKeys(c.Data, data), validateKeys(c.BinaryData, binary)...)
	for _, key := range slices.Sorted(maps.Keys(c.BinaryData)) {
		if _, both := c.Data[key]; both {
			errs = append(errs, field.Duplicate(binary.Key(key), key))
		}
	}
	if size(c.Data)+size(c.BinaryData) > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(data, "", corev1.MaxSecretSize))
	}
	return errs
}

// keysOfTypes are what Secrets of a type must have.
var keysOfTypes = map[corev1.SecretType][]string{
	corev1.SecretTypeDockercfg:        {corev1.DockerConfigKey},
	corev1.SecretTypeDockerConfigJson: {corev1.DockerConfigJsonKey},
	corev1.SecretTypeSSHAuth:          {corev1.SSHAuthPrivateKey},
	corev1.SecretTypeTLS:              {corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
}

// validateSecretData holds a Secret to its size, its keys and those of its type. No error says what it holds.
func validateSecretData(s *corev1.Secret) field.ErrorList {
	data := field.NewPath("data")
	errs := validateKeys(s.Data, data)
	for _, key := range keysOfTypes[s.Type] {
		if _, has := s.Data[key]; !has {
			errs = append(errs, field.Required(data.Key(key), "a Secret of type "+string(s.Type)+" has it"))
		}
	}
	if size(s.Data) > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(data, "", corev1.MaxSecretSize))
	}
	return errs
}

func validateKeys[T any](values map[string]T, path *field.Path) (errs field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		errs = append(errs, invalid(key, validation.IsConfigMapKey(key), path.Key(key))...)
	}
	return errs
}

func size[T string | []byte](values map[string]T) (n int) {
	for _, value := range values { // order-free: a sum
		n += len(value)
	}
	return n
}

// validateImmutable wants what is marked as immutable to stay as it is, and marked.
func validateImmutable(o, old api.Object) (errs field.ErrorList) {
	keep := func(is, was *bool, fields map[string][2]any) {
		if was == nil || !*was {
			return
		}
		if is == nil || !*is {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), "is set for good"))
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if len(apivalidation.ValidateImmutableField(fields[name][0], fields[name][1], nil)) > 0 {
				errs = append(errs, field.Forbidden(field.NewPath(name), "may not change when immutable is set"))
			}
		}
	}
	switch o := o.(type) {
	case *corev1.ConfigMap:
		if was, ok := old.(*corev1.ConfigMap); ok {
			keep(o.Immutable, was.Immutable, map[string][2]any{"data": {o.Data, was.Data}, "binaryData": {o.BinaryData, was.BinaryData}})
		}
	case *corev1.Secret:
		if was, ok := old.(*corev1.Secret); ok {
			keep(o.Immutable, was.Immutable, map[string][2]any{"data": {o.Data, was.Data}})
			errs = append(errs, apivalidation.ValidateImmutableField(o.Type, was.Type, field.NewPath("type"))...)
		}
	}
	return errs
}
