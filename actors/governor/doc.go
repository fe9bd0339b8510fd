// Package governor is the machine that decides how fast evictions start: it hands out permits, the most urgent request
// first, as far as its gates let it. Requests of one instant are served together, so that their order of arrival does not
// matter.
//
// A governor is made of parts. A part owns its state, takes its messages, records facts, and says when it is due; it never
// calls the Governor. In reading order, each using those before it:
//
//   - domain: the fleet, a region, a cluster or a priority; each part has a field of its own there.
//   - node: a request, or a scope of requests, in a tree of heaps.
//   - queue: all requests, those that are blocked until they are tried again, and those that have yet to be told what they
//     wait for.
//   - holds: what admins say: evictions that wait, and bindings that wait for nothing.
//   - states: judges the fleet and its regions by the health of their clusters.
//   - permits: those of one instant, for the record, and for what comes back.
//   - limiter: the rate of each domain, and the workers of each kind of request.
//   - breakers: stop a domain of which too many copies are evicted.
//   - usage: what an EvictionBudget counts.
//   - workload: what a budget counts of one binding, with the reservations of permits that are not used yet.
//   - budgets: block what would exceed them.
//   - starts: limits how many copies start at the same time where starts failed.
//
// The Governor joins them:
//
//   - governor: its state, and the gates that a request has to pass.
//   - explain: tells the others what they wait for.
//   - serve: asks the gates from the fleet down to the request, and has every part count what is permitted.
//   - receive: the switch of messages, the order in which the parts hear of them, and the one alarm.
package governor
