// Package conformance compares replays with recordings of a real Karmada control plane: placements, eviction tasks, taints,
// copies, reasons and times. It is tests alone; the recordings are its testdata, in a format of their own
// (karmada-observation/1) that tells what was done and what came of it. What leeward record writes is read by package incident.
package conformance
