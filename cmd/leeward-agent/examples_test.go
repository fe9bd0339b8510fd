package main

import (
	"testing"

	"leeward/cmd/internal/examples"
)

func TestEveryExampleOfTheHelpParsesAndNamesFilesThatExist(t *testing.T) {
	examples.Check(t, rootCommand, "../..")
}
