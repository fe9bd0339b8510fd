// Package build says which build of a program runs: both programs say it in the same line.
package build

import (
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Build is what the Go toolchain wrote down about a program.
type Build struct {
	// Version is that of the module, Revision the commit that it was built from, if that is known.
	Version, Revision, GoVersion string
}

// revisionLength is how much of a commit people need to find it.
const revisionLength = 12

// Of reads the build information of a program, as debug.ReadBuildInfo returns it; without any it is unknown.
func Of(info *debug.BuildInfo, known bool) Build {
	if !known {
		return Build{Version: "unknown"}
	}
	b := Build{Version: info.Main.Version, GoVersion: info.GoVersion}
	changed := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Revision = s.Value[:min(revisionLength, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+changes"
		}
	}
	b.Revision += changed
	return b
}

// AddTo gives a program the flag --version and the command version, which print the same line: that of cobra, as a template of our own
// would have the linker keep every method of every type that reflection could reach, a quarter of leeward-agent.
func (b Build) AddTo(program *cobra.Command) {
	line := program.Name() + " version " + b.String() + "\n"
	program.Version = b.String()
	program.AddCommand(&cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Long:    "Print the version of this program, the revision it was built from and the Go it was built with.",
		Example: "  " + program.Name() + " version",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := io.WriteString(c.OutOrStdout(), line)
			return err
		},
	})
}

// String is the build in one line, without what is not known.
func (b Build) String() string {
	return strings.Join(strings.Fields(b.Version+" "+b.Revision+" "+b.GoVersion), " ")
}
