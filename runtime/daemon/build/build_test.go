package build_test

import (
	"bytes"
	"runtime/debug"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/build"
)

func TestABuildSaysWhatWasBuilt(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v1.2.3"}}
	require.Equal(t, "v1.2.3 go1.26.8", build.Of(info, true).String())
	info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	require.Equal(t, "v1.2.3 0123456789ab+changes go1.26.8", build.Of(info, true).String())
	require.Equal(t, "unknown", build.Of(nil, false).String())
}

func TestTheFlagAndTheCommandSayTheSameOfAProgram(t *testing.T) {
	for _, program := range []string{"leeward", "leewardd"} {
		for _, asked := range []string{"version", "--version"} {
			c := &cobra.Command{Use: program}
			build.Build{Version: "v1.2.3", Revision: "0123456789ab", GoVersion: "go1.26.8"}.AddTo(c)
			var out bytes.Buffer
			c.SetOut(&out)
			c.SetArgs([]string{asked})
			require.NoError(t, c.Execute())
			require.Equal(t, program+" version v1.2.3 0123456789ab go1.26.8\n", out.String())
		}
	}
}
