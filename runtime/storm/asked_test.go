package storm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/storm"
)

func TestAMixReadsBackAsItIsWritten(t *testing.T) {
	for text, want := range map[string]storm.Mix{
		"dynamic":                   {{"dynamic", 1}},
		"dynamic=3,duplicated":      {{"dynamic", 3}, {"duplicated", 1}},
		"static=1000000,aggregated": {{"static", 1_000_000}, {"aggregated", 1}},
	} {
		m := mix(t, text, storm.IsPlacement)
		require.Equal(t, want, m)
		require.Equal(t, text, m.String())
	}
}

func TestAMixThatMakesNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"":                `"" is no placement: want duplicated, static, dynamic, aggregated`,
		"dynamic,random":  `"random" is no placement: want duplicated, static, dynamic, aggregated`,
		"dynamic=0":       `the weight of dynamic must be a whole number from 1 to 1000000, not "0"`,
		"dynamic=1000001": `the weight of dynamic must be a whole number from 1 to 1000000, not "1000001"`,
		"dynamic=x":       `the weight of dynamic must be a whole number from 1 to 1000000, not "x"`,
	} {
		_, err := storm.ParseMix(text, storm.IsPlacement)
		require.EqualError(t, err, want)
	}
}

func TestTolerations(t *testing.T) {
	for _, kind := range []string{"none", "forever", "30s", "5m", "1h30m"} {
		require.NoError(t, storm.IsToleration(kind))
	}
	for _, kind := range []string{"", "never", "0s", "-5m", "1.5s", "500ms"} {
		require.ErrorContains(t, storm.IsToleration(kind), "is no toleration: want none, forever or whole seconds")
	}
}

func TestAKillReadsBackAsItIsWritten(t *testing.T) {
	for _, text := range []string{"1", "60", "30%", "0.5%", "100%", "region=eu west", "zone=a"} {
		require.Equal(t, text, kill(t, text).String())
	}
	for _, text := range []string{"", "0", "-1", "0%", "101%", "x%", "NaN%", "region=", "zone=", "1.5"} {
		_, err := storm.ParseKill(text)
		require.ErrorContains(t, err, "names no clusters and no nodes: want how many (60), a share (30%), a region (region=region1) or a zone (zone=a)", text)
	}
	require.Empty(t, storm.Kill{}.String())
}

func FuzzParseKill(f *testing.F) {
	for _, text := range []string{"60", "30%", "region=eu", "1e-9%", "+5"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := storm.ParseKill(text)
		if err != nil {
			return
		}
		again, err := storm.ParseKill(k.String())
		require.NoError(t, err)
		require.Equal(t, k, again)
	})
}

func FuzzParseMix(f *testing.F) {
	for _, text := range []string{"dynamic", "dynamic=3,static", "=,=", "dynamic="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := storm.ParseMix(text, storm.IsPlacement)
		if err != nil {
			return
		}
		again, err := storm.ParseMix(m.String(), storm.IsPlacement)
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}
