// Package report says what came of scenarios: to people as a story with its verdict, to programs as
// JSON, to build servers as JUnit XML or as GitHub's annotations. What it writes follows from the runs alone, byte for byte, save
// for the wall-clock times in summaries and in JUnit.
package report
