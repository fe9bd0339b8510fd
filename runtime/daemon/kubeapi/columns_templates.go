package kubeapi

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"leeward/runtime/daemon/engine"
)

// The columns of kinds that are propagated and run nothing. Source: kubernetes, pkg/printers/internalversion.

// createdColumn shows when an object was created, in place of its age.
var createdColumn = column{
	TableColumnDefinition: metav1.TableColumnDefinition{Name: "Created At", Type: "string"},
	cell: func(o engine.Object, _ time.Time) any {
		return o.GetCreationTimestamp().UTC().Format(time.RFC3339)
	},
}

// orDefault is the name of an object with a mark where an annotation makes it the default of its kind.
func orDefault(annotation string) column {
	c := nameColumn
	c.cell = func(o engine.Object, _ time.Time) any {
		if o.GetAnnotations()[annotation] == "true" {
			return o.GetName() + " (default)"
		}
		return o.GetName()
	}
	return c
}

var ingressColumns = []column{
	shown("Class", func(i *networkingv1.Ingress) any { return ptr.Deref(i.Spec.IngressClassName, "<none>") }),
	shown("Hosts", func(i *networkingv1.Ingress) any { return hosts(i.Spec.Rules) }),
	shown("Address", func(i *networkingv1.Ingress) any { return addresses(i.Status.LoadBalancer.Ingress) }),
	shown("Ports", func(i *networkingv1.Ingress) any {
		if len(i.Spec.TLS) > 0 {
			return "80, 443"
		}
		return "80"
	}),
	ageColumn,
}

// mostHosts are how many hosts of an Ingress are shown.
const mostHosts = 3

func hosts(rules []networkingv1.IngressRule) string {
	var names []string
	for i := range rules {
		if rules[i].Host != "" {
			names = append(names, rules[i].Host)
		}
	}
	switch {
	case len(names) == 0:
		return "*"
	case len(names) > mostHosts:
		return fmt.Sprintf("%s + %d more...", strings.Join(names[:mostHosts], ","), len(names)-mostHosts)
	}
	return strings.Join(names, ",")
}

func addresses(of []networkingv1.IngressLoadBalancerIngress) string {
	var all []string
	for i := range of {
		if of[i].IP != "" {
			all = append(all, of[i].IP)
		} else if of[i].Hostname != "" {
			all = append(all, of[i].Hostname)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

var ingressClassColumns = []column{
	orDefault(networkingv1.AnnotationIsDefaultIngressClass),
	shown("Controller", func(c *networkingv1.IngressClass) any { return c.Spec.Controller }),
	shown("Parameters", func(c *networkingv1.IngressClass) any {
		p := c.Spec.Parameters
		switch {
		case p == nil:
			return "<none>"
		case p.APIGroup != nil:
			return p.Kind + "." + *p.APIGroup + "/" + p.Name
		}
		return p.Kind + "/" + p.Name
	}),
	ageColumn,
}

var networkPolicyColumns = []column{
	shown("Pod-Selector", func(p *networkingv1.NetworkPolicy) any { return metav1.FormatLabelSelector(&p.Spec.PodSelector) }),
	ageColumn,
}

var onlyCreated = []column{createdColumn}

var roleBindingColumns = bindsTo(func(b *rbacv1.RoleBinding) (rbacv1.RoleRef, []rbacv1.Subject) { return b.RoleRef, b.Subjects })

var clusterRoleBindingColumns = bindsTo(func(b *rbacv1.ClusterRoleBinding) (rbacv1.RoleRef, []rbacv1.Subject) { return b.RoleRef, b.Subjects })

// bindsTo are the columns of what gives subjects a role.
func bindsTo[T engine.Object](of func(T) (rbacv1.RoleRef, []rbacv1.Subject)) []column {
	named := func(kind string) func(T) any {
		return func(b T) any {
			_, subjects := of(b)
			var names []string
			for i := range subjects {
				if s := &subjects[i]; s.Kind == kind && kind == rbacv1.ServiceAccountKind {
					names = append(names, s.Namespace+"/"+s.Name)
				} else if s.Kind == kind {
					names = append(names, s.Name)
				}
			}
			return strings.Join(names, ", ")
		}
	}
	return []column{
		shown("Role", func(b T) any { role, _ := of(b); return role.Kind + "/" + role.Name }),
		ageColumn,
		wide(shown("Users", named(rbacv1.UserKind))),
		wide(shown("Groups", named(rbacv1.GroupKind))),
		wide(shown("ServiceAccounts", named(rbacv1.ServiceAccountKind))),
	}
}

var resourceQuotaColumns = []column{
	shown("Request", func(q *corev1.ResourceQuota) any { return used(&q.Status, false) }),
	shown("Limit", func(q *corev1.ResourceQuota) any { return used(&q.Status, true) }),
	ageColumn,
}

// used is what is used of a quota, and of how much: of limits, or of all else.
func used(s *corev1.ResourceQuotaStatus, limits bool) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(s.Hard)) {
		if strings.HasPrefix(string(name), "limits.") == limits {
			hard, used := s.Hard[name], s.Used[name]
			words = append(words, fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String()))
		}
	}
	return strings.Join(words, ", ")
}

// defaultStorageClass marks the class that claims get that name none. Source: kubernetes, pkg/apis/storage/util.
const defaultStorageClass = "storageclass.kubernetes.io/is-default-class"

var storageClassColumns = []column{
	orDefault(defaultStorageClass),
	shown("Provisioner", func(c *storagev1.StorageClass) any { return c.Provisioner }),
	shown("ReclaimPolicy", func(c *storagev1.StorageClass) any {
		return string(ptr.Deref(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete))
	}),
	shown("VolumeBindingMode", func(c *storagev1.StorageClass) any {
		return string(ptr.Deref(c.VolumeBindingMode, storagev1.VolumeBindingImmediate))
	}),
	shown("AllowVolumeExpansion", func(c *storagev1.StorageClass) any {
		return strconv.FormatBool(ptr.Deref(c.AllowVolumeExpansion, false))
	}),
	ageColumn,
}

var volumeColumns = []column{
	shown("Capacity", func(v *corev1.PersistentVolume) any { return amount(v.Spec.Capacity, corev1.ResourceStorage) }),
	shown("Access Modes", func(v *corev1.PersistentVolume) any { return accessModes(v.Spec.AccessModes) }),
	shown("Reclaim Policy", func(v *corev1.PersistentVolume) any { return string(v.Spec.PersistentVolumeReclaimPolicy) }),
	shown("Status", func(v *corev1.PersistentVolume) any {
		if v.DeletionTimestamp != nil {
			return "Terminating"
		}
		return string(v.Status.Phase)
	}),
	shown("Claim", func(v *corev1.PersistentVolume) any {
		if c := v.Spec.ClaimRef; c != nil {
			return c.Namespace + "/" + c.Name
		}
		return ""
	}),
	shown("StorageClass", func(v *corev1.PersistentVolume) any { return v.Spec.StorageClassName }),
	shown("VolumeAttributesClass", func(v *corev1.PersistentVolume) any {
		return ptr.Deref(v.Spec.VolumeAttributesClassName, "<unset>")
	}),
	shown("Reason", func(v *corev1.PersistentVolume) any { return v.Status.Reason }),
	ageColumn,
	wide(shown("VolumeMode", func(v *corev1.PersistentVolume) any { return string(ptr.Deref(v.Spec.VolumeMode, "<unset>")) })),
}

func amount(of corev1.ResourceList, name corev1.ResourceName) string {
	q := of[name]
	return q.String()
}

// modes are the short names of access modes, in the order in which they are shown.
var modes = []struct {
	mode  corev1.PersistentVolumeAccessMode
	short string
}{{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"}}

func accessModes(of []corev1.PersistentVolumeAccessMode) string {
	var words []string
	for _, m := range modes {
		if slices.Contains(of, m.mode) {
			words = append(words, m.short)
		}
	}
	return strings.Join(words, ",")
}
