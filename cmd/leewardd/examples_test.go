package main

import (
	"testing"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/examples"
)

func TestEveryExampleOfTheHelpParsesAndNamesFilesThatExist(t *testing.T) {
	examples.Check(t, func() *cobra.Command { return rootCommand(nil) }, "../..")
}
