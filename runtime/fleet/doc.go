// Package fleet is the room of a running fleet: its objects, what happened to them, and the machines that look after
// it. Everything here runs alike in a rehearsal, in a storm and in the daemon.
//
// Package store holds the objects and package journal what happened; package failover folds facts into failovers and package
// invariant says what must always hold. Package world wires machines, store and journal into something that runs, package nodetier does so
// with the nodes and pods of one cluster, and package
// rehearsal asks a copy of it what would happen. Package catalog lists the kinds of objects, package observed reads them,
// package config makes settings, package span reads durations, and package election has one of several processes lead.
//
// May import of runtime: kernel.
// May be imported by: scenario, daemon, client, storm, report, cmd.
package fleet
