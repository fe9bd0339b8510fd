// Package storm fails a part of a fleet at full speed and measures what becomes of it: the machines of
// the engine on the lanes of the kernel, with nothing but a recorder beside them.
//
// Time is the fleet's, and virtual: tolerations and start-up times take no real time. What is measured is the
// engine's own, by the clock on the wall.
//
// The room storm tries the machines hard. In it, package simulation draws random fleets and outages and asks the invariants of
// each.
//
// May import of runtime: kernel, fleet, scenario, daemon.
// May be imported by: report, cmd.
package storm
