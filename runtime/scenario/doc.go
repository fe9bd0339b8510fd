// Package scenario is the language of scenarios: it reads them, checks all that can be checked without
// running them, and expands what is written in short. docs/scenarios.md describes the language.
//
// Everything that is wrong is a problem with its file and line, and all problems come together. Reading
// files is done by Load alone.
//
// The room scenario is what a rehearsal reads, runs and judges. In it, package expect judges expectations, package replay runs a
// scenario, package assess fails each part of a fleet, package sweep compares what variants of settings do, package shrink
// reduces a scenario that fails, package draft writes the first scenarios of a fleet, package incident makes scenarios of recordings, and package conformance compares replays with
// recordings of a real Karmada.
//
// May import of runtime: kernel, fleet.
// May be imported by: client, storm, report, cmd.
package scenario
