package conformance

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

var update = flag.Bool("update", false, "write testdata from the recordings that lie elsewhere")

// testdata holds recordings without what no test looks at: go test -run TestTestdata -update.
func TestTestdataIsWhatItWasMadeOf(t *testing.T) {
	for _, folder := range folders()[1:] {
		files, err := filepath.Glob(filepath.Join(folder, "*.json"))
		require.NoError(t, err)
		for _, file := range files {
			compact := filepath.Join("testdata", filepath.Base(file))
			if _, err := os.Stat(compact); err != nil && !*update {
				continue // a recording that is not part of the repository
			}
			want, err := json.Marshal(trimmed(read(t, file)))
			require.NoError(t, err)
			want = append(want, '\n')
			if *update {
				require.NoError(t, os.WriteFile(compact, want, 0o644))
			}
			got, err := os.ReadFile(compact)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), file)
		}
	}
}

// trimmed is a recording without repeated states and without what is not compared.
func trimmed(r *Recording) *Recording {
	short, last := *r, map[string]string{}
	short.Observed.Timeline = nil
	for _, s := range r.Observed.Timeline {
		text := fmt.Sprint(s.Taints)
		switch {
		case s.Kind == "Cluster":
			s = Sighting{Seconds: s.Seconds, Kind: s.Kind, Name: s.Name, Taints: s.Taints}
		case s.Binding != nil:
			text = placed(s.Binding.Clusters, s.Binding.Tasks)
			s.Binding = &Binding{Name: s.Binding.Name, Clusters: s.Binding.Clusters, Tasks: undated(s.Binding.Tasks)}
		default:
			continue
		}
		if key := s.Kind + " " + s.Name; last[key] != text {
			last[key] = text
			short.Observed.Timeline = append(short.Observed.Timeline, s)
		}
	}
	return &short
}

// undated are tasks without their creation times, which are compared by the timeline.
func undated(tasks []api.GracefulEvictionTask) []api.GracefulEvictionTask {
	var all []api.GracefulEvictionTask
	for _, k := range tasks {
		k.CreationTimestamp = nil
		all = append(all, k)
	}
	return all
}
