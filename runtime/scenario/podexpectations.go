package scenario

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario/expect"
)

// node returns the node that an expectation names at a path.
func (r *reader) node(path, name string) messages.NodeName {
	if err := r.cast.there(&r.cast.nodes, name, sometime); err != nil {
		r.bad(path, "%v", err)
	}
	return messages.NodeName(name)
}

// podNamed returns the pod that a name means; without a namespace it is in default.
func podNamed(name string) messages.PodName {
	if !strings.Contains(name, "/") {
		return messages.NamePod(metav1.NamespaceDefault, name)
	}
	return messages.PodName(name)
}

// podOwners are the kinds that make pods.
var podOwners = []string{
	messages.KindNameDeployment, messages.KindNameReplicaSet, messages.KindNameStatefulSet, messages.KindNameDaemonSet, messages.KindNameJob,
}

// makesPod reports whether something of a scenario is, or may make, a pod of that name.
func (c *cast) makesPod(pod messages.PodName) bool {
	namespace, name := pod.Split()
	if len(c.objects[named{"Pod", namespace, name}]) > 0 {
		return true
	}
	for id := range c.objects {
		if id.namespace == namespace && slices.Contains(podOwners, id.kind) && strings.HasPrefix(name, id.name+"-") {
			return true
		}
	}
	return false
}

func (r *reader) pod(path string, w *podExpectation) *expect.Pod {
	cluster, name := "", w.Name
	if len(r.memberNodes) > 0 {
		cluster, name, _ = strings.Cut(w.Name, "/")
		if r.memberNodes[messages.ClusterName(cluster)] == nil {
			r.bad(path+".name", "want CLUSTER/POD or CLUSTER/NAMESPACE/POD, of a cluster that has nodes")
		}
		cluster += "/"
	}
	p := &expect.Pod{
		Name: messages.PodName(cluster) + podNamed(name), Absent: w.Present != nil && !*w.Present, Phase: corev1.PodPhase(w.Phase),
		Ready: w.Ready, Evicted: w.Evicted, Terminating: w.Terminating, Unschedulable: w.Unschedulable,
	}
	r.oneOf(path+".phase", w.Phase, "Pending", "Running", "Succeeded", "Failed", "Unknown")
	if !r.cast.incomplete && !r.cast.makesPod(podNamed(name)) {
		r.bad(path+".name", "there is no pod %q, and nothing that would make it", w.Name)
	}
	if w.Node != nil {
		p.Node = (*messages.NodeName)(w.Node)
		if *w.Node != "" {
			r.node(path+".node", *w.Node)
		}
	}
	expects := w.Phase != "" || w.Node != nil || w.Ready != nil || w.Evicted != nil || w.Terminating != nil || w.Unschedulable != ""
	switch {
	case p.Absent && expects:
		r.bad(path, "expects something of a pod that must not be there")
	case w.Present == nil && !expects:
		r.bad(path, "expects nothing of the pod")
	}
	return p
}

func (r *reader) pods(path string, w *podsExpectation) *expect.Pods {
	p := &expect.Pods{Namespace: w.Namespace}
	if w.Of != "" {
		p.Of = r.owner(path+".of", w)
	}
	if w.Node != nil {
		names, err := r.cast.resolve(&r.cast.nodes, &w.Node.reference, sometime)
		if err != nil {
			r.bad(path+".node", "%v", err)
		}
		p.Nodes = []messages.NodeName{}
		for _, name := range names {
			p.Nodes = append(p.Nodes, messages.NodeName(name))
		}
	}
	for i, written := range []*bounds{w.All, w.Running, w.Ready, w.Pending, w.Unschedulable, w.Evicted, w.Terminating} {
		if written != nil {
			b, _ := written.read() // read once before, when it was decoded
			p.Wants = append(p.Wants, expect.PodNumber{Of: expect.PodState(i), Bounds: b})
		}
	}
	if len(p.Wants) == 0 {
		r.bad(path, "want one of all, running, ready, pending, unschedulable, evicted, terminating")
	}
	return p
}

// owner returns what keeps up the pods that are meant.
func (r *reader) owner(path string, w *podsExpectation) messages.OwnerName {
	text := w.Of
	if w.Namespace != "" {
		text += " -n " + w.Namespace
	}
	key, err := r.cast.workload(text, sometime)
	switch {
	case err != nil:
		r.bad(path, "%v", err)
	case key != (api.Key{}) && !slices.Contains(podOwners, key.Kind):
		r.bad(path, "%s keeps up no pods: want a %s", key, strings.Join(podOwners, ", a "))
	}
	return messages.NameOwner(key.Kind, key.Namespace, key.Name)
}
