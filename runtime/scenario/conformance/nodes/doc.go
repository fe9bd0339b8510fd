// Package nodes holds the node tier to recordings of the controllers of a real Kubernetes: each is replayed under profile
// kubernetes, and what happened to pods and nodes must be the same, at the same times. It has tests alone, and the recordings in testdata.
package nodes
