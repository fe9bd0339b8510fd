// Package placement decides where a workload runs: which clusters fit, which of those are chosen and
// how its replicas are divided among them; why a cluster does not fit; and when a decision must be
// taken again. It does so from snapshots of the clusters, kept in columns by a Fleet, so that one
// decision over a thousand clusters costs microseconds and does not allocate per cluster.
//
// The same fleet and the same request always give the same decision. Sources: the Karmada documents
// on resource propagation, failover and rescheduling, and recordings of a Karmada control plane for
// what they leave open.
//
// In reading order: request is what is asked and answered. fleet are the clusters, in columns; capacity is what is free on
// them, models and pack what that is worth to pods of some size.
//
// plan has the Planner, and how it decides: with one affinity term after the other it filters, chooses and divides. cast is
// the part that each cluster plays in a request, rule a placement as the planner uses it, ready those that are kept.
//
// verdict filters: which clusters fit, and why the others do not; avoid which of them are used last, sets which take all
// components of a workload. choose chooses among those that fit; where spread constraints ask for more than clusters, spread and
// spreader, regions and search. assign divides the replicas.
//
// needs is when a decision must be taken again, takes whether a cluster has capacity for a share of a workload. explain
// asks plan again, and tells what led to its decision.
package placement
