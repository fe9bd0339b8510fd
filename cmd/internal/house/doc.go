// Package house holds the code to how docs/architecture.md says it is built: which package imports which, and the names
// that the page gives. It is tests alone. What of the page follows from the code is written by
// go test ./cmd/internal/house -update.
package house
