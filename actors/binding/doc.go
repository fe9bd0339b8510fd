// Package binding is the machine of one ResourceBinding or ClusterResourceBinding: it decides when a
// workload is evicted from a cluster, carries out the handover to its replacement, and keeps the members
// told which copies to run.
//
// A binding is made of parts. A part owns its state, records facts, and says what must follow; it never calls the
// Binding. What parts read of one another they read through view. In reading order, each using those before it:
//
// view is what all parts may read, and the questions that several of them ask. Within it, declared is what is asked of the binding: the
// resource, what its owner gives it and the settings.
//
// targets are the clusters of the present placement; copies is what each member was told to run and what it reports of it,
// and which clusters may be told nothing while dispatching is suspended.
//
// past is what application failovers leave behind; pace bounds them by it: how many in a window, and which clusters cool down. blocked is why an eviction that is
// due may not start yet. state is what a copy leaves behind for the next one (stateful failover).
//
// countdown is when a target must be evicted, for its taints, tolerations or health: one for each target, its deadline
// computed again at every change.
//
// handover are the graceful eviction tasks. missing counts the replicas that have no place, takeover says who takes over
// from whom, purge waits for copies that go first, start counts copies that were never healthy, withdraw takes a task
// back, release lets old copies go replica by replica.
//
// disruption is what budgets, and admins who hold evictions, allow, and what the governor hears of the workload.
//
// failback returns the workload to the clusters, or to the affinity group, that it was evicted from; shrink keeps shares
// for as long as others do not serve, reconnect says who stays when a cluster that was cut off comes back.
//
// dependencies are the resources that go where the workload goes, and the workloads that need this resource.
// unschedulable are replicas that members cannot start, until they are given up. claims are the policies that select the
// resource, and which of them has it. request is what the scheduler was asked.
//
// The Binding joins them. run tells members what to run, return asks for a failback, assess ends tasks, evict takes a
// target through its countdown, its permit and its eviction, place asks the scheduler and carries out its decision,
// resource takes over what policies and the template give, restart what was stored. binding is the switch of messages, the
// order in which the parts hear of them, and the one alarm.
package binding
