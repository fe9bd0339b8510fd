// Package placement decides where a workload runs: which clusters fit, which of those are chosen and
// how its replicas are divided among them; why a cluster does not fit; and when a decision must be
// taken again. It does so from snapshots of the clusters, kept in columns by a Fleet, so that one
// decision over a thousand clusters costs microseconds and does not allocate per cluster.
//
// The same fleet and the same request always give the same decision. Sources: the Karmada documents
// on resource propagation, failover and rescheduling, and recordings of a Karmada control plane for
// what they leave open.
//
// In reading order:
//
//   - request: what is asked and answered.
//   - key: a cluster that fits in one number, so that the better ones come first.
//   - models: how a cluster grades its nodes, and what these can take.
//   - capacity: what is free on clusters, and what that is worth to pods of some size.
//   - pack: how many whole sets of components the nodes can take.
//   - fleet: the clusters, in columns.
//   - cast: the part that each cluster plays in a request.
//   - fitness: why a cluster does not fit, in words.
//   - grouping: what a placement spreads by.
//   - rule: a placement as the planner uses it, and a request that is tried with one term of it.
//   - ready: the rules, and the kinds that clusters serve, kept for the next request.
//   - search: the regions, and which of them are the best together.
//   - spreader: the clusters that meet all spread constraints together.
//   - planner: the Planner, with its scratch space.
//   - sets: which clusters can take all components of a workload.
//   - verdict: which clusters fit, and why the others do not.
//   - avoid: which of them are used last.
//   - regions: chooses clusters by region.
//   - spread: chooses clusters by their number, by region or by several constraints.
//   - choose: measures the clusters that fit, and chooses among them as the constraints ask.
//   - assign: divides the replicas.
//   - plan: filters, chooses and divides, with one affinity term after the other.
//   - needs: when a decision must be taken again, and whether a cluster could take a share.
//   - explain: plans again, and tells what led to the decision.
package placement
