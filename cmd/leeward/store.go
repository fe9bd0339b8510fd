package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/messages/spelling"
	"leeward/runtime/daemon/engine/wal"
)

const storeExitCodes = `Exit codes:
  0  done; no damage was found
  1  the store is damaged, or another process has it open
  2  the command line or a manifest is invalid, or the folder has no store, or has one already
  3  an internal error, or a file that cannot be read or written`

func storeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "store",
		Short: "Check, compact, export and import the store of leewardd",
		Long: `Check, compact, export and import the folder in which leewardd stores its objects: a log with checksums, and
snapshots that shorten it. The daemon must not be running: only one process can open the folder.

` + storeExitCodes,
		Example: `  leeward store verify leewardd.data/store
  leeward store export leewardd.data/store > objects.jsonl
  leeward store import new.data/store objects.jsonl`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(storeVerifyCommand(), storeCompactCommand(), storeExportCommand(), storeImportCommand())
	return c
}

// noArguments names the subcommand that there is not.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misused(c, fmt.Errorf("%s has no command %q", c.CommandPath(), args[0]))
	}
	return nil
}

// oneFolder demands the folder and nothing else.
func oneFolder(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return misused(c, fmt.Errorf("%s needs one folder", c.CommandPath()))
	}
	return nil
}

// ofStore is for an error of a store.
func ofStore(err error) error { return &exitcode.Exit{Code: exitcode.OfStore(err), Err: err} }

func storeVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify DIR",
		Short: "Read every file of a store and report what is damaged",
		Long: `Read every file of a store, check every checksum and every version, and report the first damage of each
file with its offset. Nothing is changed. An incomplete last frame belongs to a write that a crash interrupted
before it was acknowledged: it is reported, and does not count as damage. A file that was truncated looks the same.

` + storeExitCodes,
		Example: `  leeward store verify leewardd.data/store`,
		Args:    oneFolder,
		RunE: func(c *cobra.Command, args []string) error {
			report, err := wal.Verify(args[0])
			if err != nil {
				return ofStore(err)
			}
			if err := printReport(c.OutOrStdout(), &report); err != nil {
				return err
			}
			return verdict(&report)
		},
	}
}

func printReport(w io.Writer, r *wal.Report) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row(table, "FILE", "BYTES", "FRAMES", "RECORDS", "VERSIONS", "STATE")
	for _, f := range r.Files {
		versions, state := "-", "sound"
		if f.Records > 0 {
			versions = fmt.Sprintf("%d..%d", f.First, f.Last)
		}
		if f.Damage != nil {
			state = fmt.Sprintf("offset %d: %s", f.Damage.Offset, f.Damage.Reason)
		}
		row(table, f.Name, f.Bytes, f.Frames, f.Records, versions, state)
	}
	if r.Loss == nil {
		row(table, fmt.Sprintf("version %d, %s", r.Version, spelling.Count(r.Objects, "object")))
	}
	for _, note := range r.Notes {
		row(table, note)
	}
	return table.Flush()
}

// row writes to memory, which does not fail; Flush tells of what does.
func row(w *tabwriter.Writer, cells ...any) {
	for i, cell := range cells {
		end := "\t"
		if i == len(cells)-1 {
			end = "\n"
		}
		_, _ = fmt.Fprint(w, cell, end)
	}
}

// verdict is nil for a store that is sound but for a torn end.
func verdict(r *wal.Report) error {
	if r.Loss != nil {
		return &exitcode.Exit{Code: exitFailed, Err: r.Loss}
	}
	for _, f := range r.Files {
		if f.Damage != nil && !f.Damage.Torn {
			return &exitcode.Exit{Code: exitFailed, Err: f.Damage}
		}
	}
	return nil
}

func storeCompactCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compact DIR",
		Short: "Write a snapshot of a store and remove what it makes obsolete",
		Long: `Write a snapshot of a store and remove what it makes obsolete. The snapshot before it and the log since
that one stay, so that a damaged snapshot costs nothing. The daemon does the same by itself whenever
the log has outgrown the last snapshot.

` + storeExitCodes,
		Example: `  leeward store compact leewardd.data/store`,
		Args:    oneFolder,
		RunE:    func(c *cobra.Command, args []string) error { return compactStore(c, args[0]) },
	}
}

func compactStore(c *cobra.Command, dir string) error {
	switch exists, err := wal.Exists(dir); {
	case err != nil:
		return ofStore(err)
	case !exists:
		return ofStore(fmt.Errorf("%s: %w", dir, wal.ErrNoStore))
	}
	log, state, err := wal.Open(dir, wal.Options{})
	if err != nil {
		return ofStore(err)
	}
	for _, note := range state.Notes {
		say(c.ErrOrStderr(), note+"\n")
	}
	if err := errors.Join(log.Compact(), log.Close()); err != nil {
		return ofStore(err)
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "compacted: version %d, %s\n", state.Version, spelling.Count(len(state.Records), "object"))
	return err
}
