package actors

import "leeward/messages"

// TellCluster sends to one cluster.
func (o *Outbox) TellCluster(name messages.ClusterName, m messages.ToCluster) {
	o.tell(messages.KindCluster, string(name), m)
}

// TellPolicy sends to one ClusterTaintPolicy.
func (o *Outbox) TellPolicy(name messages.PolicyName, m messages.ToPolicy) {
	o.tell(messages.KindPolicy, string(name), m)
}

// TellBinding sends to one binding.
func (o *Outbox) TellBinding(name messages.BindingName, m messages.ToBinding) {
	o.tell(messages.KindBinding, string(name), m)
}

// TellMember sends to the member that is the agent of a cluster.
func (o *Outbox) TellMember(name messages.ClusterName, m messages.ToMember) {
	o.tell(messages.KindMember, string(name), m)
}

// TellScheduler sends to the scheduler.
func (o *Outbox) TellScheduler(m messages.ToScheduler) { o.tell(messages.KindScheduler, "", m) }

// TellGovernor sends to the governor.
func (o *Outbox) TellGovernor(m messages.ToGovernor) { o.tell(messages.KindGovernor, "", m) }

// TellOwner sends to one owner of pods or nodes.
func (o *Outbox) TellOwner(name messages.OwnerName, m messages.ToOwner) {
	o.tell(messages.KindOwner, string(name), m)
}

// TellPodScheduler sends to the scheduler of pods.
func (o *Outbox) TellPodScheduler(m messages.ToPodScheduler) {
	o.tell(messages.KindPodScheduler, "", m)
}

// TellAPIServer sends to the API server that keeps the pods and nodes of a cluster.
func (o *Outbox) TellAPIServer(m messages.ToAPIServer) { o.tell(messages.KindAPIServer, "", m) }

// TellZone sends to one zone of nodes.
func (o *Outbox) TellZone(name messages.ZoneName, m messages.ToZone) {
	o.tell(messages.KindZone, string(name), m)
}

// TellPodEviction sends to the eviction of one pod.
func (o *Outbox) TellPodEviction(name messages.PodName, m messages.ToPodEviction) {
	o.tell(messages.KindPodEviction, string(name), m)
}

// TellAPIClient sends to one client of the API server.
func (o *Outbox) TellAPIClient(name messages.ClientName, m messages.ToAPIClient) {
	o.tell(messages.KindAPIClient, string(name), m)
}

// TellPodGC sends to the pod garbage collector.
func (o *Outbox) TellPodGC(m messages.ToPodGC) { o.tell(messages.KindPodGC, "", m) }

// TellDrain sends to the drain of one node.
func (o *Outbox) TellDrain(name messages.NodeName, m messages.ToDrain) {
	o.tell(messages.KindDrain, string(name), m)
}

// TellNode sends to one node.
func (o *Outbox) TellNode(name messages.NodeName, m messages.ToNode) {
	o.tell(messages.KindNode, string(name), m)
}

// TellKubelet sends to the kubelet of one node.
func (o *Outbox) TellKubelet(name messages.NodeName, m messages.ToKubelet) {
	o.tell(messages.KindKubelet, string(name), m)
}

// TellNodeLifecycle sends to the node lifecycle.
func (o *Outbox) TellNodeLifecycle(m messages.ToNodeLifecycle) {
	o.tell(messages.KindNodeLifecycle, "", m)
}
