// Package scenario is the language of scenarios: it reads them, checks all that can be checked without
// running them, and expands what is written in short. docs/scenarios.md describes the language.
//
// Everything that is wrong is a problem with its file and line, and all problems come at once. Reading
// files is done by Load alone.
//
// The room scenario is what a rehearsal reads, runs and judges. In it, package expect judges expectations, package replay runs a
// scenario, and packages incident and recording make scenarios of recordings.
//
// May import of runtime: kernel, fleet.
// May be imported by: client, storm, report, cmd.
package scenario
