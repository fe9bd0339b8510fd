// Package karmada runs beside the API server of a Karmada control plane. In shadow it decides what Karmada's scheduler and failover
// controllers decide, writes nothing, and compares. Or it acts in their place, on the bindings of one scheduler name.
//
// A reader follows the objects of the server, and a twin of the fleet runs Leeward's machines on what is input there: what users
// write, and what agents report. What Karmada's controllers answer (target clusters, graceful eviction tasks, their taints, Unknown of a
// silent cluster) is kept from the machines until a decision is compared. Then the twin adopts it, so that one difference does not
// lead to the next.
//
// Where Leeward acts, bindings come from Karmada's detector and taints from its controllers, and the twin has them as they are. What the machines decide
// of a binding that they act on is the difference between theirs and the server's: it is written until there is none, one request for each
// binding at a time, each naming the version that it changes. So a decision can be made again after a crash between two writes, and a
// conflict is one more look. What others write over it counts, and the machines decide again.
package karmada
