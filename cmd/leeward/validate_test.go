package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheExamplesAreValid(t *testing.T) {
	var out, log bytes.Buffer
	require.Zero(t, execute([]string{"validate", "../../docs/examples"}, &out, &log), log.String())
	require.Contains(t, out.String(), "1 configuration of leewardd")
}
