// Package explain says of a binding, a cluster, a policy, a node or a pod why it is as it is at an instant of a scenario: the decision with what
// led to it, what is under way, and what happened before.
//
// The scenario is replayed until that instant. The scheduler is asked again, by the question that it decides on: when the binding
// was placed, and at the instant. Nothing else is recorded, and nothing is written.
//
// In reading order: explain runs a scenario and finds what is named, names reads names. binding has its placement, moves what
// evicts it and what did, cluster and policy these. pod and node are the tier below: podmoves has what evicts pods and did. text and
// nodetext are what users read.
package explain
