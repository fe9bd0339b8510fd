// Package kubeapi serves the Kubernetes API of the daemon: Kubernetes' own server, k8s.io/apiserver, over our own
// storage on our own engine. What is typical of a Kubernetes API (patches, server-side apply, watches, tables,
// discovery, admission, audit) is Kubernetes' code; what is ours are the kinds, where objects lie, what they must be
// like to be admitted, and who may do what.
//
// It is heavy: only cmd/leewardd links it.
package kubeapi
