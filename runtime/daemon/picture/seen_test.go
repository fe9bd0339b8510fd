package picture

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatCannotBeReadIsNotTaken(t *testing.T) {
	var s Seen
	require.NoError(t, s.Take([]byte(`{"format":"leeward.dev/live","version":1,"clusters":{"m1":{"ready":"True"},"m2":{"ready":"True"}},"evictions":{"a m1":{"name":"a"}}}`)))
	require.NoError(t, s.Take([]byte(`{"clusters":{"m2":null},"totals":{"clusters":{"all":1}}}`)))
	require.Equal(t, map[string]*Cluster{"m1": {Ready: "True"}}, s.Clusters)
	before := s
	for text, says := range map[string]string{
		`{`: "unexpected end",
		`{"format":"leeward.dev/live","version":2}`:                                    "version 2, this is for leeward.dev/live version 1",
		`{"format":"other","version":1}`:                                               "it is other version 1",
		`{"clusters":{"m1":null,"m3":{"ready":7}}}`:                                    "m3: ",
		`{"clusters":{"m1":null},"evictions":{"b m1":[]}}`:                             "b m1: ",
		`{"clusters":{"m1":null},"totals":[]}`:                                         "Totals",
		`{"clusters":{"m1":null},"governor":"x","totals":{"clusters":{"all":"many"}}}`: "all",
	} {
		require.ErrorContains(t, s.Take([]byte(text)), says, text)
		require.Equal(t, before, s, text)
	}
}
