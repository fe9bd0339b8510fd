package spelling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Workload is a workload as people name it. Kind is spelled as in manifests; Namespace is empty where none is named.
type Workload struct{ Kind, Namespace, Name string }

// Workloads returns what people may mean by a workload's name, the likeliest first. It takes kubectl's grammar
// (nginx, deployment/nginx, deploy nginx, deployments.apps/nginx, each with -n shop), and beside it shop/nginx and
// StatefulSet/shop/db. Kinds are those that exist beside Kubernetes' own.
func Workloads(text string, kinds []string) ([]Workload, error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	namespace := flags.StringP("namespace", "n", "", "")
	if err := flags.Parse(strings.Fields(text)); err != nil {
		return nil, fmt.Errorf("read the workload %q: %w", text, err)
	}
	readings := readings(flags.Args(), kinds)
	if *namespace != "" {
		readings = within(*namespace, readings)
	}
	if len(readings) == 0 {
		return nil, fmt.Errorf("want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not %q", text)
	}
	return readings, nil
}

// readings are what words may mean: a kind and a name, or a path.
func readings(words, kinds []string) []Workload {
	switch len(words) {
	case 1:
		return paths(strings.Split(words[0], "/"), kinds)
	case 2:
		if kind, known := KindMeant(words[0], kinds); known && !strings.Contains(words[1], "/") {
			return []Workload{{kind, "", words[1]}}
		}
	}
	return nil
}

// paths are what the parts of a path may mean: a word before a name is a kind if there is such a kind, or
// else a namespace, which is never written with capitals.
func paths(parts, kinds []string) (all []Workload) {
	first, name := parts[0], parts[len(parts)-1]
	kind, known := KindMeant(first, kinds)
	switch lower := first == strings.ToLower(first); {
	case name == "":
	case len(parts) == 1:
		all = []Workload{{"Deployment", "", name}}
	case first == "":
	case len(parts) == 2:
		if known || !lower {
			all = append(all, Workload{kind, "", name})
		}
		if lower {
			all = append(all, Workload{"Deployment", first, name})
		}
	case len(parts) == 3:
		all = []Workload{{kind, parts[1], name}}
	}
	return all
}

// within returns the readings that agree with a namespace, as of it.
func within(namespace string, readings []Workload) (all []Workload) {
	for _, w := range readings {
		if w.Namespace == "" || w.Namespace == namespace {
			all = append(all, Workload{w.Kind, namespace, w.Name})
		}
	}
	return all
}

// Kinds of Kubernetes and Karmada that kubectl knows by a short name, and others that people propagate.
var (
	shortKinds = map[string]string{
		"cj": "CronJob", "cm": "ConfigMap", "crb": "ClusterResourceBinding", "crd": "CustomResourceDefinition", "deploy": "Deployment", "ds": "DaemonSet",
		"hpa": "HorizontalPodAutoscaler", "ing": "Ingress", "limits": "LimitRange", "netpol": "NetworkPolicy", "ns": "Namespace", "no": "Node",
		"pc": "PriorityClass", "pdb": "PodDisruptionBudget", "po": "Pod", "pv": "PersistentVolume",
		"pvc": "PersistentVolumeClaim", "quota": "ResourceQuota", "rb": "ResourceBinding", "rs": "ReplicaSet", "sa": "ServiceAccount",
		"sc": "StorageClass", "sts": "StatefulSet", "svc": "Service",
	}
	longKinds = []string{"ClusterRole", "ClusterRoleBinding", "IngressClass", "Job", "Role", "RoleBinding", "Secret"}
)

// KindMeant returns the kind that a word of kubectl's names (deploy, deployments, deployment.apps, Deployment), and
// whether there is one; else the word. Kinds are those that exist beside Kubernetes' own, and come before them.
func KindMeant(word string, kinds []string) (kind string, known bool) {
	resource, _, _ := strings.Cut(word, ".")
	resource = strings.ToLower(resource)
	is := func(kind string) bool {
		plural, singular := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
		return resource == singular.Resource || resource == plural.Resource
	}
	if i := slices.IndexFunc(kinds, is); i >= 0 {
		return kinds[i], true
	}
	if kind, known = shortKinds[resource]; known {
		return kind, true
	}
	for _, kind := range shortKinds { // order-free: one of them at most has that name
		if is(kind) {
			return kind, true
		}
	}
	if i := slices.IndexFunc(longKinds, is); i >= 0 {
		return longKinds[i], true
	}
	return word, false
}
