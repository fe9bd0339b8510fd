package admission

import (
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages"
	"leeward/messages/api"
)

// KeepTimes gives the taints of a cluster that replaces another, and that carry no time, the times that they had there: who sends the whole
// list again has not tainted again. It comes before Default.
func KeepTimes(o, old api.Object) {
	c, is := o.(*api.Cluster)
	before, was := old.(*api.Cluster)
	if !is || !was {
		return
	}
	for i := range c.Spec.Taints {
		t := &c.Spec.Taints[i]
		same := func(b corev1.Taint) bool { return b.MatchTaint(t) && b.Value == t.Value }
		if j := slices.IndexFunc(before.Spec.Taints, same); t.TimeAdded == nil && j >= 0 {
			t.TimeAdded = before.Spec.Taints[j].TimeAdded
		}
	}
}

// defaultCluster is what Karmada's API server does on every write: the deprecated zone moves into
// zones, and a NoExecute taint, or any where settings say so, is stamped with the time from which tolerations count. The sync mode,
// for which Karmada asks, is Push: a rehearsal connects to nothing, and need not say how. Grades of nodes are
// given where there are none and the gate of resource models is on.
func defaultCluster(c *api.Cluster, s *messages.Settings, now time.Time) {
	setDefault(&c.Spec.SyncMode, api.Push)
	if c.Spec.Zone != "" && len(c.Spec.Zones) == 0 {
		c.Spec.Zone, c.Spec.Zones = "", []string{c.Spec.Zone}
	}
	if len(c.Spec.ResourceModels) == 0 && s.CustomizedClusterResourceModeling {
		c.Spec.ResourceModels = defaultModels()
	}
	for i := range c.Spec.Taints {
		if t := &c.Spec.Taints[i]; t.TimeAdded == nil && s.TimesTaints(t.Effect) {
			t.TimeAdded = stamp(s, now)
		}
	}
}

// stamp is now, as the API of the profile writes it.
func stamp(s *messages.Settings, now time.Time) *metav1.Time {
	if s.WholeSecondTaintTimes {
		now = now.Truncate(time.Second)
	}
	return &metav1.Time{Time: now}
}

const (
	maxClusterName = 48
	maxClusterID   = 128000
)

func clusterName(name string, prefix bool) []string {
	reasons := apivalidation.NameIsDNSLabel(name, prefix)
	if len(name) > maxClusterName {
		reasons = append(reasons, validation.MaxLenError(maxClusterName))
	}
	return reasons
}

var (
	syncModes    = []api.ClusterSyncMode{api.Push, api.Pull}
	proxySchemes = []string{"http", "https", "socks5"}
)

func validateCluster(c *api.ClusterSpec, s *messages.Settings, spec *field.Path) field.ErrorList {
	return slices.Concat(
		atMost(maxClusterID, c.ID, spec.Child("id")),
		requiredOneOf(c.SyncMode, syncModes, spec.Child("syncMode")),
		validateSecret(c.SecretRef, spec.Child("secretRef")),
		validateSecret(c.ImpersonatorSecretRef, spec.Child("impersonatorSecretRef")),
		validateProxy(c.ProxyURL, spec.Child("proxyURL")),
		labelValue(c.Provider, spec.Child("provider")),
		labelValue(c.Region, spec.Child("region")),
		validateZones(c, spec),
		ValidateClusterTaints(c.Taints, s),
		validateModels(c.ResourceModels, spec.Child("resourceModels")),
	)
}

func validateZones(c *api.ClusterSpec, spec *field.Path) (errs field.ErrorList) {
	if c.Zone != "" && len(c.Zones) > 0 {
		errs = append(errs, field.Invalid(spec.Child("zone"), c.Zone, "zone and zones are mutually exclusive"))
	}
	for i, zone := range c.Zones {
		errs = append(errs, labelValue(zone, spec.Child("zones").Index(i))...)
	}
	return errs
}

func validateSecret(ref *api.LocalSecretReference, at *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	return slices.Concat(required(ref.Namespace, at.Child("namespace")), required(ref.Name, at.Child("name")))
}

// validateModels wants the grades of a cluster to cover every quantity once, from 0 without end. The
// grades may stand in any order.
func validateModels(models []api.ResourceModel, at *field.Path) (errs field.ErrorList) {
	if errs := atMostItems(maxGrades, len(models), at); len(errs) > 0 {
		return errs
	}
	order := make([]int, len(models))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(models[a].Grade) - int(models[b].Grade) })
	for n, i := range order {
		model, path := models[i], at.Index(i)
		if len(model.Ranges) == 0 {
			errs = append(errs, field.Required(path.Child("ranges"), ""))
		}
		if n == 0 {
			errs = append(errs, validateFirst(model, path)...)
		} else {
			errs = append(errs, validateNext(models[order[n-1]], model, path)...)
		}
		if n == len(order)-1 {
			errs = append(errs, validateLast(model, path)...)
		}
	}
	return errs
}

func validateFirst(model api.ResourceModel, at *field.Path) (errs field.ErrorList) {
	for i, r := range model.Ranges {
		if !r.Min.IsZero() {
			errs = append(errs, field.Invalid(at.Child("ranges").Index(i).Child("min"), r.Min.String(), "must be 0 in the lowest grade"))
		}
	}
	return errs
}

func validateLast(model api.ResourceModel, at *field.Path) (errs field.ErrorList) {
	for i, r := range model.Ranges {
		if r.Max.CmpInt64(math.MaxInt64) != 0 {
			errs = append(errs, field.Invalid(at.Child("ranges").Index(i).Child("max"), r.Max.String(), "must be 9223372036854775807 in the highest grade"))
		}
	}
	return errs
}

func validateNext(below, model api.ResourceModel, at *field.Path) (errs field.ErrorList) {
	if model.Grade == below.Grade {
		return field.ErrorList{field.Duplicate(at.Child("grade"), model.Grade)}
	}
	if len(model.Ranges) != len(below.Ranges) {
		return field.ErrorList{field.Invalid(at.Child("ranges"), len(model.Ranges), "every grade must have the same resources")}
	}
	for i, r := range model.Ranges {
		path := func(name string) *field.Path { return at.Child("ranges").Index(i).Child(name) }
		switch {
		case r.Name != below.Ranges[i].Name:
			errs = append(errs, field.Invalid(path("name"), r.Name, "every grade must have the same resources, in the same order"))
		case r.Min.Cmp(below.Ranges[i].Max) != 0:
			errs = append(errs, field.Invalid(path("min"), r.Min.String(), "must be where the grade below ends"))
		case r.Max.Cmp(r.Min) <= 0:
			errs = append(errs, field.Invalid(path("max"), r.Max.String(), "must be more than min"))
		}
	}
	return errs
}

// Where the grades of a cluster that names none begin: in cores, and in GiB of memory.
var (
	coresOfGrades  = []int64{0, 1, 2, 4, 8, 16, 32, 64, 128}
	memoryOfGrades = []int64{0, 4, 16, 32, 64, 128, 256, 512, 1024}
)

const gibibyte = 1 << 30

// defaultModels are the nine grades of nodes that a cluster has that names none. Source: Karmada's
// "Cluster Resources", default resource models.
func defaultModels() []api.ResourceModel {
	models := make([]api.ResourceModel, len(coresOfGrades))
	for grade := range models {
		models[grade] = api.ResourceModel{Grade: uint(grade), Ranges: []api.ResourceModelRange{
			rangeOfGrade(corev1.ResourceCPU, coresOfGrades, grade, 1, resource.DecimalSI),
			rangeOfGrade(corev1.ResourceMemory, memoryOfGrades, grade, gibibyte, resource.BinarySI),
		}}
	}
	return models
}

// rangeOfGrade goes from the beginning of a grade to that of the next; the last one has no end.
func rangeOfGrade(name corev1.ResourceName, begins []int64, grade int, unit int64, format resource.Format) api.ResourceModelRange {
	end := int64(math.MaxInt64)
	if grade+1 < len(begins) {
		end = begins[grade+1] * unit
	}
	return api.ResourceModelRange{
		Name: name, Min: *resource.NewQuantity(begins[grade]*unit, format), Max: *resource.NewQuantity(end, format),
	}
}
