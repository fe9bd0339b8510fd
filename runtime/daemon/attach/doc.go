// Package attach runs beside a Kubernetes API server that exists, and does there what that cluster's taint-eviction-controller does:
// it evicts pods from nodes with NoExecute taints. In shadow it only reports what it would do, and compares that with what the
// cluster's own controller then does.
//
// Recognise tells such a server from Karmada's, beside which package karmada runs.
//
// The objects of the server are the only truth, and deadlines are computed from them: a restart loses nothing. Every write is safe to
// repeat: it names the UID of its pod, and a pod that has its condition already is only deleted.
//
// The machines are those of package podeviction, one for each pod on a node with a NoExecute taint, and none for all others.
package attach
