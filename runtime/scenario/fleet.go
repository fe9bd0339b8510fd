package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	yaml "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/manifest"
)

// ample is the capacity of a cluster that does not say its own.
func ample() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1000"),
		corev1.ResourceMemory: resource.MustParse("4000Gi"),
		corev1.ResourcePods:   resource.MustParse("10000"),
	}
}

// readyConditions are those of a cluster that works.
func readyConditions() []metav1.Condition {
	return []metav1.Condition{
		{Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: "ClusterReady", Message: "the cluster is healthy"},
		{Type: api.ConditionCompleteAPIEnablements, Status: metav1.ConditionTrue, Reason: "Succeeded"},
	}
}

// add makes manifests part of the scenario. A cluster without a status starts Ready with ample capacity.
func (r *reader) add(docs []manifest.Document) {
	for _, doc := range docs {
		if isScenario(doc) {
			continue
		}
		r.prepare(doc.Object)
		r.objects = append(r.objects, doc)
		r.cast.join(doc.Object, 0)
	}
}

// prepare gives an object what a scenario may leave out.
func (r *reader) prepare(o api.Object) {
	o.SetNamespace(namespaceOf(o))
	if node, is := o.(*corev1.Node); is {
		completeNode(node)
		return
	}
	cluster, ok := o.(*api.Cluster)
	if !ok {
		return
	}
	if name := messages.ClusterName(cluster.Name); r.members[name] == (messages.MemberBehaviour{}) {
		r.members[name] = messages.MemberBehaviour{Health: api.Healthy}
	}
	if reflect.ValueOf(cluster.Status).IsZero() {
		cluster.Status.Conditions = readyConditions()
		cluster.Status.ResourceSummary = &api.ResourceSummary{Allocatable: ample()}
	}
}

// namespaceOf returns the namespace that the API server would put an object in.
func namespaceOf(o api.Object) string {
	if !admission.Namespaced(o) {
		return ""
	}
	return cmp.Or(o.GetNamespace(), metav1.NamespaceDefault)
}

// fleet expands the entries of spec.fleet.
func (r *reader) fleet(entries []yaml.Node) {
	expand(r, "spec.fleet", entries, &r.cast.clusters, func(path string, entry *fleetEntry) string {
		r.oneOf(path+".health", entry.Health, "Healthy", "Unhealthy", "Unknown")
		r.oneOf(path+".syncMode", entry.SyncMode, "Push", "Pull")
		return entry.Name
	}, r.enlist)
}

// expand enlists what the entries of a list make, each under all the names that the braces of its own expand to.
func expand[E any](r *reader, list string, entries []yaml.Node, made *population, nameOf func(path string, entry *E) string, enlist func(path, name string, entry *E)) {
	for i := range entries {
		var entry E
		path := fmt.Sprintf("%s[%d]", list, i)
		if !r.decode(path, &entries[i], &entry) {
			r.cast.incomplete = true
			continue
		}
		pattern := nameOf(path, &entry)
		names, err := ExpandBraces(pattern)
		if err != nil {
			r.cast.incomplete = true
			r.bad(path+".name", "%q %v", pattern, err)
		}
		if len(made.all)+len(names) > mostNames {
			r.bad(path, "makes more than %d %ss", mostNames, made.kind)
			return
		}
		for _, name := range names {
			enlist(path, name, &entry)
		}
	}
}

// enlist adds one cluster of a fleet, or says how the member of a cluster behaves that has a manifest.
func (r *reader) enlist(path, name string, entry *fleetEntry) {
	behaviour := entry.behaviour()
	if r.cast.clusters.byName[name] != nil {
		if !entry.onlyBehaviour() {
			r.bad(path+".name", "cluster %q is defined already: only startup and health may be given here", name)
		}
		r.members[messages.ClusterName(name)] = behaviour
		return
	}
	doc := r.doc
	cluster := entry.cluster(name)
	doc.Object = cluster
	doc.Place.Object, doc.Place.Field = api.KeyOf(cluster).String(), r.field(path)
	r.members[messages.ClusterName(name)] = behaviour
	r.objects = append(r.objects, doc)
	r.cast.join(cluster, 0)
	r.enlistNodes(path, cluster, entry)
}

// enlistNodes adds the nodes of one cluster. What they offer is what the cluster does.
func (r *reader) enlistNodes(path string, cluster *api.Cluster, entry *fleetEntry) {
	if len(entry.Nodes) == 0 {
		return
	}
	for _, given := range []struct {
		field   string
		written bool
	}{{"capacity", entry.Capacity != nil}, {"allocated", entry.Allocated != nil}, {"startup", entry.Startup != nil}} {
		if given.written {
			r.bad(path+"."+given.field, "is said by the nodes of the cluster")
		}
	}
	name := messages.ClusterName(cluster.Name)
	of := &messages.MemberNodes{Kubelets: map[messages.NodeName]messages.KubeletBehaviour{}}
	for i := range entry.Nodes {
		r.enlistMemberNodes(fmt.Sprintf("%s.nodes[%d]", path, i), cluster, &entry.Nodes[i], of)
	}
	r.memberNodes[name] = of
	behaviour := r.members[name]
	behaviour.ByPods = true
	r.members[name] = behaviour
	cluster.Status.ResourceSummary = &api.ResourceSummary{Allocatable: corev1.ResourceList{}, Allocated: corev1.ResourceList{}}
}

// enlistMemberNodes adds the nodes that one entry makes, in the region of their cluster unless they say another.
func (r *reader) enlistMemberNodes(path string, cluster *api.Cluster, entry *nodeEntry, of *messages.MemberNodes) {
	names, err := ExpandBraces(entry.Name)
	if err != nil {
		r.cast.incomplete = true
		r.bad(path+".name", "%q %v", entry.Name, err)
	}
	if len(r.cast.nodes.all)+len(names) > mostNodes {
		r.bad(path, "makes more than %d nodes", mostNodes)
		return
	}
	for _, name := range names {
		full := cluster.Name + "/" + name
		if r.cast.nodes.byName[full] != nil {
			r.bad(path+".name", "node %q is defined already", full)
			continue
		}
		node := entry.node(name)
		if node.Labels[corev1.LabelTopologyRegion] == "" && cluster.Spec.Region != "" {
			node.Labels[corev1.LabelTopologyRegion] = cluster.Spec.Region
		}
		if problems := admission.Validate(node, nil, &messages.Settings{}); len(problems) > 0 {
			r.bad(path, "%v", problems.ToAggregate())
		}
		of.Nodes = append(of.Nodes, node)
		if k := entry.kubelet(); k != (messages.KubeletBehaviour{}) {
			of.Kubelets[messages.NodeName(name)] = k
		}
		l := locatedNode(node, 0)
		l.name = full
		r.cast.nodes.join(l)
	}
}

func (e *fleetEntry) behaviour() messages.MemberBehaviour {
	b := messages.MemberBehaviour{Health: api.Healthy}
	if e.Startup != nil {
		b.StartupMin, b.StartupMax = time.Duration(e.Startup.Min), time.Duration(e.Startup.Max)
	}
	if e.Health != "" {
		b.Health = api.ResourceHealth(e.Health)
	}
	return b
}

// onlyBehaviour reports whether an entry says nothing about the Cluster object.
func (e *fleetEntry) onlyBehaviour() bool {
	rest := *e
	rest.Name, rest.Startup, rest.Health = "", nil, ""
	return reflect.ValueOf(rest).IsZero()
}

// cluster returns the object that an entry means under one name. It shares nothing with another.
func (e *fleetEntry) cluster(name string) *api.Cluster {
	c := &api.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: maps.Clone(e.Labels)},
		Spec: api.ClusterSpec{
			SyncMode: api.Push,
			Provider: e.Provider,
			Region:   e.Region,
			Zones:    slices.Clone(e.Zones),
		},
		Status: api.ClusterStatus{
			Conditions:      e.conditions(),
			ResourceSummary: &api.ResourceSummary{Allocatable: ample(), Allocated: e.Allocated.DeepCopy()},
		},
	}
	if e.SyncMode != "" {
		c.Spec.SyncMode = api.ClusterSyncMode(e.SyncMode)
	}
	maps.Copy(c.Status.ResourceSummary.Allocatable, e.Capacity.DeepCopy())
	for _, t := range e.Taints {
		c.Spec.Taints = append(c.Spec.Taints, corev1.Taint(t))
	}
	return c
}

// conditions are those of a cluster that works, changed as the entry says.
func (e *fleetEntry) conditions() []metav1.Condition {
	all := readyConditions()
	for _, given := range e.Conditions.objects() {
		all = slices.DeleteFunc(all, func(c metav1.Condition) bool { return c.Type == given.Type })
		if given.Status != "" {
			all = append(all, given)
		}
	}
	return all
}
