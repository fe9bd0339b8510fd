package kubeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/observed"
)

// Who Karmada's own agents are. Source: Karmada's karmadactl register.
const (
	// KarmadaAgentGroup are Karmada's own agents. Each may do what karmadactl register has it be allowed at a Karmada, or less.
	KarmadaAgentGroup = "system:karmada:agents"
	// KarmadaAgentPrefix precedes the cluster in the name of such an agent.
	KarmadaAgentPrefix = "system:karmada:agent:"
	// karmadaSystem is where they keep the Leases of their leader elections.
	karmadaSystem = "karmada-system"
	// impersonatorSuffix ends the name of the second Secret of a cluster.
	impersonatorSuffix = "-impersonator"
)

// KarmadaAgent is Karmada's own agent of a cluster.
func KarmadaAgent(cluster string) User {
	return User{Name: KarmadaAgentPrefix + cluster, Groups: []string{KarmadaAgentGroup}}
}

// karmadaAgentOf returns the cluster of an agent of Karmada.
func karmadaAgentOf(u user.Info) (string, bool) {
	if u == nil || !slices.Contains(u.GetGroups(), KarmadaAgentGroup) {
		return "", false
	}
	cluster, is := strings.CutPrefix(u.GetName(), KarmadaAgentPrefix)
	return cluster, is && cluster != "" && cluster != registrar
}

// karmadaAgentRules are those of Karmada's agent of a cluster. What Karmada allows it in all namespaces (Leases, Events), it may here where
// it does it; new Works it may not create.
func karmadaAgentRules(cluster string) []rule {
	own, works := []string{cluster}, api.WorkNamespacePrefix+cluster
	leases, events := []string{"leases"}, []string{"events"}
	return []rule{
		{verbs: []string{"get", "delete"}, groups: []string{catalog.Clusters.Kind.Group}, resources: []string{"clusters"}, names: own},
		{verbs: []string{"create", "list", "watch"}, groups: []string{catalog.Clusters.Kind.Group}, resources: []string{"clusters"}},
		{verbs: []string{"update"}, groups: []string{catalog.Clusters.Kind.Group}, resources: []string{"clusters/status"}, names: own},
		{verbs: reading, groups: []string{customizations.Group}, resources: []string{webhookConfigurations.Plural, customizations.Resource}},
		{verbs: []string{"get"}, groups: []string{""}, resources: []string{"namespaces"}, names: []string{api.LeaseNamespace}},
		{verbs: []string{"list", "watch"}, groups: []string{""}, resources: []string{"services"}},
		{verbs: []string{"create"}, groups: []string{leaseResource.Group}, resources: leases, namespace: api.LeaseNamespace},
		{verbs: []string{"get", "update"}, groups: []string{leaseResource.Group}, resources: leases, namespace: api.LeaseNamespace, names: own},
		{verbs: []string{"create"}, groups: []string{leaseResource.Group}, resources: leases, namespace: karmadaSystem},
		{verbs: []string{"get", "update"}, groups: []string{leaseResource.Group}, resources: leases, namespace: karmadaSystem, names: []string{electionOf(cluster)}},
		{verbs: []string{"create", "patch", "update"}, groups: []string{""}, resources: events, namespace: karmadaSystem},
		{verbs: []string{"create", "patch", "update"}, groups: []string{""}, resources: events, namespace: works},
		{verbs: []string{"create"}, groups: []string{""}, resources: []string{"secrets"}, namespace: api.LeaseNamespace},
		{verbs: []string{"get", "patch"}, groups: []string{""}, resources: []string{"secrets"}, namespace: api.LeaseNamespace, names: credentialsOf(cluster)},
		{verbs: append([]string{"update", "delete"}, reading...), groups: []string{catalog.Works.Kind.Group}, resources: []string{"works"}, namespace: works},
		{verbs: []string{"update", "patch"}, groups: []string{catalog.Works.Kind.Group}, resources: []string{"works/status"}, namespace: works},
		{verbs: []string{"get", "create"}, groups: []string{catalog.CertificateRequests.Kind.Group}, resources: []string{catalog.CertificateRequests.Plural}},
	}
}

// mayRegister reports whether a cluster is Karmada's agent's, or may become so: it is marked so, or does not exist. Who got a certificate for
// a name before an admin registered a cluster of that name otherwise, in push mode say, learns nothing of that cluster.
func (w roles) mayRegister(cluster string) bool {
	if !ofFleet(w.engine) {
		return false
	}
	o, _ := w.engine.Table(catalog.Clusters.Name()).Get(engine.Key(catalog.Clusters.Name(), "", cluster))
	c, exists := o.(*api.Cluster)
	return !exists || c.Annotations[api.AnnotationAgent] == api.AgentOfKarmada
}

func electionOf(cluster string) string      { return "karmada-agent-" + cluster }
func credentialsOf(cluster string) []string { return []string{cluster, cluster + impersonatorSuffix} }

// noteAgent marks a cluster that an agent of Karmada registers.
func noteAgent(ctx context.Context, o api.Object) {
	cluster, ok := o.(*api.Cluster)
	u, known := request.UserFrom(ctx)
	if !ok || !known {
		return
	}
	if _, is := karmadaAgentOf(u); is {
		annotations := map[string]string{api.AnnotationAgent: api.AgentOfKarmada}
		for name, value := range cluster.Annotations { // order-free: copied into a map
			if name != api.AnnotationAgent {
				annotations[name] = value
			}
		}
		cluster.Annotations = annotations
	}
}

// ownWrites admits from an agent only what is its own cluster's: a permission to create says nothing of names, and one to write an object
// nothing of its fields.
type ownWrites struct{}

var _ admission.ValidationInterface = ownWrites{}

// Handles says that only what is written is looked at.
func (ownWrites) Handles(operation admission.Operation) bool {
	return operation == admission.Create || operation == admission.Update || operation == admission.Delete
}

// Validate refuses what an agent may not write.
func (ownWrites) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if err := ownLease(a); err != nil {
		return admission.NewForbidden(a, err)
	}
	cluster, is := karmadaAgentOf(a.GetUserInfo())
	if !is || a.GetSubresource() != "" {
		return nil
	}
	var err error
	written := a.GetObject()
	if a.GetOperation() == admission.Delete {
		written = nil
		err = noCopy(a, cluster)
	}
	switch o := written.(type) {
	case *api.Cluster:
		err = ownCluster(o, cluster)
	case *corev1.Secret:
		err = ownSecret(a, o, cluster)
	case *api.Work:
		err = ownWork(a, o)
	}
	if err != nil {
		return admission.NewForbidden(a, err)
	}
	return nil
}

// ownLease requires of a new Lease of an agent that it be that of its cluster, or of its leader election.
func ownLease(a admission.Attributes) error {
	if a.GetResource().GroupResource() != leaseResource || a.GetOperation() != admission.Create {
		return nil
	}
	name, is := agentOf(a.GetUserInfo())
	if !is {
		if name, is = karmadaAgentOf(a.GetUserInfo()); is && a.GetNamespace() == karmadaSystem {
			name = electionOf(name)
		}
	}
	if is && a.GetName() != name {
		return fmt.Errorf("the lease of this agent must have the name %s", name)
	}
	return nil
}

// ownCluster requires of a cluster that its agent registers that the daemon does nothing on its word: in push mode it would connect to
// where the agent says.
func ownCluster(c *api.Cluster, cluster string) error {
	switch {
	case c.Name != cluster:
		return fmt.Errorf("metadata.name: this agent registers the cluster %s", cluster)
	case c.Spec.SyncMode != api.Pull:
		return fmt.Errorf("spec.syncMode: %q: an agent registers a cluster in pull mode", c.Spec.SyncMode)
	case len(c.Spec.Taints) > 0:
		return fmt.Errorf("spec.taints: an agent sets none")
	}
	for at, ref := range map[string]*api.LocalSecretReference{"secretRef": c.Spec.SecretRef, "impersonatorSecretRef": c.Spec.ImpersonatorSecretRef} { // order-free: either is refused
		if ref != nil && (ref.Namespace != api.LeaseNamespace || !slices.Contains(credentialsOf(cluster), ref.Name)) {
			return fmt.Errorf("spec.%s: %s/%s is not a Secret of this agent", at, ref.Namespace, ref.Name)
		}
	}
	return nil
}

// mostOfCredentials is how many bytes the data of a Secret of an agent may have: a token and authorities.
const mostOfCredentials = 64 << 10

func ownSecret(a admission.Attributes, s *corev1.Secret, cluster string) error {
	size := 0
	for _, value := range s.Data { // order-free: a sum
		size += len(value)
	}
	switch {
	case !slices.Contains(credentialsOf(cluster), a.GetName()):
		return fmt.Errorf("metadata.name: the Secrets of this agent are %s", strings.Join(credentialsOf(cluster), " and "))
	case s.Type != corev1.SecretTypeOpaque:
		return fmt.Errorf("type: %q: an agent keeps Secrets of type %s", s.Type, corev1.SecretTypeOpaque)
	case size > mostOfCredentials:
		return fmt.Errorf("data: %d bytes, of which an agent may keep %d", size, mostOfCredentials)
	}
	return nil
}

// ownWork requires that an agent change nothing of a Work but its finalizers: what the cluster is to run is not the agent's to say.
func ownWork(a admission.Attributes, w *api.Work) error {
	old, ok := a.GetOldObject().(*api.Work)
	if !ok {
		return nil
	}
	if !sameText(w.Spec, old.Spec) || !reflect.DeepEqual(w.Annotations, old.Annotations) || !reflect.DeepEqual(w.Labels, old.Labels) {
		return fmt.Errorf("an agent changes nothing of a Work but its finalizers and its status")
	}
	return nil
}

// noCopy requires of a Work that an agent deletes, as karmadactl unregister does, that it be no copy of a workload: the daemon would write it
// again, and between the two the workload would not run.
func noCopy(a admission.Attributes, cluster string) error {
	w, is := a.GetOldObject().(*api.Work)
	if !is || w.DeletionTimestamp != nil {
		return nil
	}
	if _, binding, copies := observed.Copy(w); copies {
		return fmt.Errorf("it is a copy of %s: drain the cluster %s before you unregister it", binding, cluster)
	}
	return nil
}

// sameText reports whether two values say the same in JSON, in whatever order that has its fields.
func sameText(a, b any) bool {
	read := func(v any) (value any) {
		text, err := json.Marshal(v)
		if err != nil || json.Unmarshal(text, &value) != nil {
			return err
		}
		return value
	}
	return reflect.DeepEqual(read(a), read(b))
}
