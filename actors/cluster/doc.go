// Package cluster is the machine of one member cluster: it decides the cluster's taints, from its
// conditions, from the verdicts of the ClusterTaintPolicies, and from what people ask for.
//
// A cluster is made of parts, each with its own state. In reading order, each using those before it:
//
//   - revision: a change of taints in the making, with who wants each there or gone.
//   - taintlist: the taints, and who put them there.
//   - contact: whether the cluster answers: its agent's lease, probes, and what these find of Ready that does not count yet.
//   - conditions: what the cluster reports, and what of it policies do not see yet.
//   - judging: how far the policies are with the present generation.
//   - preview: what policies that only report would do.
//   - subscribers: the bindings that hear of the taints.
//   - drain: how far people's wish to empty the cluster has come.
//
// The Cluster joins them:
//
//   - cluster: its state, and what the scheduler, the governor and the bindings are told of it.
//   - imagine: brings the previews up to date, and asks the bindings what they would mean to them.
//   - taints: makes the revisions that people, policies and the Ready condition ask for come true.
//   - observe: sets conditions, and counts what probes find of Ready.
//   - lease: makes the cluster Unknown when its agent is silent for too long.
//   - probe: finds out that contact is lost or restored.
//   - manifest: takes over what manifests, people and reports say.
//   - verdicts: asks the policies, has their verdicts carried out, and says why workloads stay.
//   - receive: the switch of messages, the order in which the parts hear of them, and the one alarm.
package cluster
