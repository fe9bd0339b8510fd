// Package scheduler is the machine that places bindings. It collects what changes in an instant, in
// the fleet and in the bindings, and decides at the instant's end: by priority, then waiting time, then
// name. So what is scarce never depends on the order in which messages came.
//
// A scheduler is made of parts. A part owns its state and says what must follow; it never calls the Scheduler. In reading
// order, each using those before it:
//
//   - asked: questions about what a binding asks for.
//   - queue: what is known of each binding; those to decide on in this instant, and those that wait for the fleet to change.
//
// What decisions take is counted by parts that know nothing of one another:
//
//   - reservations: the capacity of clusters.
//   - groups: the clusters of workloads that run together or apart.
//   - starts: the copies that start at the same time on a cluster.
//   - quota: what namespaces may use.
//   - census: the copies that breakers are judged by.
//
// These ask the planner of package placement with all that:
//
//   - plan: asks it for a placement, and refuses what else forbids one.
//   - failback: the bindings that may return to where they ran before a failure.
//
// The Scheduler joins them:
//
//   - scheduler: its state, and how it counts what a decision takes.
//   - decide: makes the decision on one binding and tells it.
//   - return: judges failbacks.
//   - receive: the switch of messages, the order in which the parts hear of them, and the turns of an instant.
//   - explain: asks again what decide asks, to say why.
package scheduler
