// Package house holds the code to how docs/architecture.md says it is built: which package imports which, in which
// order the files of a machine are read, and the names that the pages give. It is tests alone. What of the page follows from the code is written by
// go test ./cmd/internal/house -update.
package house
