// Package karmada runs in shadow beside the API server of a Karmada control plane: it decides what Karmada's scheduler and failover
// controllers decide, writes nothing, and compares.
//
// A reader follows the objects of the server, and a twin of the fleet runs Leeward's machines on what is input there: what users
// write, and what agents report. What Karmada's controllers answer (target clusters, graceful eviction tasks, their taints, Unknown of a
// silent cluster) is kept from the machines until a decision is compared. Then the twin adopts it, so that one difference does not
// lead to the next.
package karmada
