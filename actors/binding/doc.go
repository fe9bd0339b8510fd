// Package binding is the machine of one ResourceBinding or ClusterResourceBinding: it decides when a
// workload is evicted from a cluster, carries out the handover to its replacement, and keeps the members
// told which copies to run.
//
// A binding is made of parts. A part owns its state, records facts, and says what must follow; it never calls the
// Binding. In reading order, each using those before it:
//
//   - view: what all parts may read, and the questions that several of them ask. Within it, declared is what is asked of the
//     binding: the resource, what its owner gives it and the settings.
//   - targets: the clusters of the present placement, each with its countdown and what blocks that.
//   - copies: what each member was told to run, what it reports of it, and where dispatching is suspended.
//   - past: what application failovers leave behind, and which clusters cool down after them.
//   - blocked: why an eviction that is due may not start yet, and who is told.
//   - state: what a copy leaves behind for the next one (stateful failover).
//   - unhealthy: when a target is evicted for the health of its copy, and how many are within a window.
//   - countdown: when a target is evicted for its taints or its health, computed again at every change.
//   - handover: the graceful eviction tasks, and what waits for copies that are purged first.
//   - start: copies that were never healthy.
//   - missing: the replicas that no cluster has.
//   - takeover: which clusters take over from which.
//   - withdraw: when a task is taken back, and who stays when a cluster that was cut off comes back.
//   - disruption: what budgets, and admins who hold evictions, allow, and what the governor hears of the workload.
//   - failback: the return to the clusters, or to the affinity group, that the workload was evicted from.
//   - shrink: shares that are kept for as long as others do not serve.
//   - dependencies: the resources that go where the workload goes, and the workloads that need this resource.
//   - unschedulable: replicas that members cannot start, until they are given up.
//   - claims: the policies that select the resource, and which of them has it.
//   - request: what the scheduler is asked.
//
// The Binding joins them:
//
//   - binding: its state, and what all the rest has it do: ask the scheduler, change the targets, assess the tasks.
//   - run: tells members what to run.
//   - return: asks for a failback.
//   - assess: ends tasks and takes them back.
//   - evict: takes a target through its countdown, its permit and its eviction.
//   - deschedule: gives up replicas that cannot start.
//   - place: carries out the scheduler's decision.
//   - report: takes over what members report.
//   - resource: takes over what policies and the template give.
//   - restart: takes over what was stored.
//   - receive: the switch of messages, the order in which the parts hear of them, and the one alarm.
package binding
