package nodes

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	update     = flag.Bool("update", false, "write testdata from the recordings in the folder -recordings")
	recordings = flag.String("recordings", "", "folder with whole recordings")
)

// testdata holds recordings without what no test looks at: go test -run Testdata -update -recordings FOLDER.
func TestTestdataIsWhatItWasMadeOf(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*recordings, "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		want, err := json.Marshal(trimmed(read(t, file)))
		require.NoError(t, err)
		want = append(want, '\n')
		compact := filepath.Join("testdata", filepath.Base(file))
		if *update {
			require.NoError(t, os.WriteFile(compact, want, 0o644))
		}
		got, err := os.ReadFile(compact)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), file)
	}
}

// trimmed is a recording without Events, inputs and what else is not compared.
func trimmed(r *recording) *recording {
	short := *r
	short.Observed.Timeline, short.Observed.FinalPods, short.Observed.FinalNodes = nil, nil, nil
	for _, s := range r.Observed.Timeline {
		if s.Kind == "Pod" || s.Kind == "Node" && s.Taints != nil {
			s.Tolerations, s.TolerationsAs, s.Conditions = nil, "", nil
			short.Observed.Timeline = append(short.Observed.Timeline, s)
		}
	}
	return &short
}
