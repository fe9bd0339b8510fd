// Package picture tells viewers of the live page how the fleet is: one picture, made once for all of them and only while there is
// one, from the changes of the store, and what changed of it since, at most once a second.
//
// docs/viewer-data.md describes the JSON. All of it has a bound: the clusters and evictions that are named, the length of each text,
// the viewers, and what one viewer may be behind.
package picture
