// Package manual writes the manual pages of a program.
package manual

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// AddTo gives a program the hidden command man, for packages: it writes a page for the program and for each of its commands. Their
// date is SOURCE_DATE_EPOCH, or today.
func AddTo(program *cobra.Command) {
	program.AddCommand(&cobra.Command{
		Use: "man FOLDER", Short: "Write the manual pages of this program", Long: "Write the manual pages of this program into a folder.",
		Example: "  " + program.Name() + " man man1", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("write the manual: %w", err)
			}
			header := &doc.GenManHeader{Section: "1", Source: "Leeward", Manual: "Leeward"}
			return doc.GenManTree(program, header, args[0])
		},
	})
}
