// Package glossary has no code: its test holds everything that users read to the words of docs/glossary.md.
package glossary
