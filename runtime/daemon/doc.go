// Package daemon is the room of what only a running daemon needs: storage, an API, the real clock.
//
// Package engine stores the objects and tells of every change, in files by its package wal or in etcd by package etcd; package
// leadership has one of several daemons lead. Package live runs a fleet on the real clock, package nodes the nodes and pods of one
// cluster, package picture tells viewers of the live page how the fleet is, package kubeapi serves the Kubernetes API and that page, package telemetry measures, package hugepages and package build are about the
// process.
//
// May import of runtime: kernel, fleet.
// May be imported by: storm, cmd.
package daemon
