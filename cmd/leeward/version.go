package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Long:    "Print the version of this program, the revision it was built from and the Go it was built with.",
		Example: "  leeward version",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), version(debug.ReadBuildInfo()))
			return err
		},
	}
}

// version describes a build; one without build information is "unknown".
func version(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return "leeward unknown"
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = " " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return "leeward " + info.Main.Version + revision + dirty + " " + info.GoVersion
}
