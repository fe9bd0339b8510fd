// Package client reads, writes and follows the objects of a Kubernetes API server: Leeward's daemon, Karmada's, or
// any other that has the kinds of the catalog.
//
// The room client is what runs at the other end of an API. In it, package recorder records an API, package agent is the agent
// of a real cluster, package credentials says how the API server of one is reached, package join registers one, package push
// runs the agents of clusters in push mode, package install grants attached daemons their rights, package fakemember plays agents of
// simulated ones, and package clienttest is an API for tests.
//
// May import of runtime: fleet, scenario.
// May be imported by: cmd.
package client
