// Package report says what came of scenarios: to people as a timeline with its verdict, to programs as
// JSON, to build servers as JUnit XML or as GitHub's annotations. What it writes follows from the runs alone, byte for byte, save
// for the wall-clock times in summaries and in JUnit.
//
// The room report shows what came of runs and storms. In it, package timeline says what lasts, viewer makes the JSON and the page of
// runs, top shows them on a terminal, and chart and page those of storms and assessments.
//
// May import of runtime: fleet, scenario, storm.
// May be imported by: cmd.
package report
