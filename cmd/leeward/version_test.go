package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheVersionSaysWhatWasBuilt(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v1.2.3"}}
	require.Equal(t, "leeward v1.2.3 go1.26.8", version(info, true))
	info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	require.Equal(t, "leeward v1.2.3 0123456789ab+changes go1.26.8", version(info, true))
	require.Equal(t, "leeward unknown", version(nil, false))
}
