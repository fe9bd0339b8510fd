package failback_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/rules/failback"
	"leeward/messages/api"
)

var on = actorstest.Targets

func TestDividedReplicasReturn(t *testing.T) {
	for name, c := range map[string]struct {
		now, home []api.TargetCluster
		back      []string
		want      []api.TargetCluster
	}{
		"from a substitute, which goes":                   {on("m1:2", "m3:2"), on("m1:2", "m2:2"), []string{"m2"}, on("m1:2", "m2:2")},
		"from a survivor, which shrinks":                  {on("m1:4"), on("m1:2", "m2:2"), []string{"m2"}, on("m1:2", "m2:2")},
		"from a substitute first, then from a survivor":   {on("m1:3", "m3:1"), on("m1:2", "m2:2"), []string{"m2"}, on("m1:2", "m2:2")},
		"from the survivor that gained most":              {on("m1:3", "m2:5"), on("m1:2", "m2:2", "m3:2", "m4:2"), []string{"m3"}, on("m1:3", "m2:3", "m3:2")},
		"from two survivors evenly":                       {on("m2:4", "m1:4"), on("m1:2", "m2:2", "m3:2", "m4:2"), []string{"m4"}, on("m1:3", "m2:3", "m4:2")},
		"from the first by name where both gained alike":  {on("m2:3", "m1:3"), on("m1:2", "m2:2", "m3:1", "m4:1"), []string{"m4"}, on("m1:2", "m2:3", "m4:1")},
		"from the first by name, however they are listed": {on("m1:3", "m2:3"), on("m1:2", "m2:2", "m3:1", "m4:1"), []string{"m4"}, on("m1:2", "m2:3", "m4:1")},
		"from the substitute that runs most":              {on("m3:1", "m4:3"), on("m1:2", "m2:2"), []string{"m1"}, on("m1:2", "m3:1", "m4:1")},
		"from the first by name of equal substitutes":     {on("m4:2", "m3:2"), on("m1:2", "m2:2"), []string{"m1"}, on("m1:2", "m4:2")},
		"to a survivor that had more":                     {on("m1:1", "m3:3"), on("m1:2", "m2:2"), []string{"m1"}, on("m1:2", "m3:2")},
		"to two clusters together":                        {on("m3:4"), on("m1:2", "m2:2"), []string{"m1", "m2"}, on("m1:2", "m2:2")},
		"not to a cluster that lacks nothing":             {on("m1:4"), on("m1:2", "m2:2"), []string{"m1"}, on("m1:4")},
		"not to a cluster that is no home":                {on("m1:4"), on("m1:2", "m2:2"), []string{"m9"}, on("m1:4")},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, failback.Return(c.now, c.home, c.back, true))
		})
	}
}

func TestWholeCopiesReturn(t *testing.T) {
	for name, c := range map[string]struct {
		now, home []api.TargetCluster
		back      []string
		want      []api.TargetCluster
	}{
		"in the place of a substitute":             {on("m1:2", "m3:2"), on("m1:2", "m2:2"), []string{"m2"}, on("m1:2", "m2:2")},
		"in the place of the last of two by name":  {on("m3:2", "m4:2"), on("m1:2", "m2:2"), []string{"m2"}, on("m2:2", "m3:2")},
		"in no copy's place where one was missing": {on("m1:2"), on("m1:2", "m2:2"), []string{"m2"}, on("m1:2", "m2:2")},
		"without replicas":                         {on("m3"), on("m1"), []string{"m1"}, on("m1")},
		"not where the cluster runs a copy anyway": {on("m1:2", "m3:2"), on("m1:2", "m2:2"), []string{"m1"}, on("m1:2", "m3:2")},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, failback.Return(c.now, c.home, c.back, false))
		})
	}
}

func TestWhatAClusterLacks(t *testing.T) {
	lack, lacks := failback.Lacks(on("m1:1"), api.TargetCluster{Name: "m1", Replicas: 3})
	require.True(t, lacks)
	require.Equal(t, int32(2), lack)
	_, lacks = failback.Lacks(on("m1:4"), api.TargetCluster{Name: "m1", Replicas: 3})
	require.False(t, lacks)
	_, lacks = failback.Lacks(nil, api.TargetCluster{Name: "m1"})
	require.True(t, lacks, "a copy without replicas")
}

// FuzzReturn holds that a return neither makes nor loses replicas, and gives no more than home had.
func FuzzReturn(f *testing.F) {
	f.Add([]byte{2, 2, 0}, []byte{4, 0, 0}, uint8(2))
	f.Fuzz(func(t *testing.T, at, now []byte, back uint8) {
		n := min(len(at), len(now), 8)
		var home, present []api.TargetCluster
		var able []string
		moved := int32(0)
		for i := range n {
			name := string(rune('a' + i))
			if at[i] > 0 {
				home = append(home, api.TargetCluster{Name: name, Replicas: int32(at[i])})
			}
			if now[i] > 0 {
				present = append(present, api.TargetCluster{Name: name, Replicas: int32(now[i])})
			}
			if back>>i&1 == 1 {
				able = append(able, name)
			}
			moved += int32(at[i]) - int32(now[i])
		}
		if moved != 0 {
			t.Skip("home and present differ in replicas")
		}
		next := failback.Return(present, home, able, true)
		sum := int32(0)
		for _, c := range next {
			require.Positive(t, c.Replicas)
			sum += c.Replicas
		}
		for _, c := range present {
			sum -= c.Replicas
		}
		require.Zero(t, sum)
	})
}
