package engine

import (
	"crypto/sha512"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"
)

func unpacked(t *testing.T, p packed) string {
	t.Helper()
	var text string
	require.NoError(t, p.read(func(b []byte) error { text = string(b); return nil }))
	return text
}

// TestTextsThatAreAlikeArePackedSmall has texts that say nothing twice, and most of it alike.
func TestTextsThatAreAlikeArePackedSmall(t *testing.T) {
	common := sha512.Sum512([]byte("web"))
	var p packer
	var texts []string
	var all []packed
	size := 0
	for n := range 1000 {
		texts = append(texts, fmt.Sprintf(`{"metadata":{"name":"web-%d","uid":"%x"},"spec":{"replicas":3}}`, n, common))
		all = append(all, p.pack([]byte(texts[n])))
		size += len(all[n].text)
	}
	require.Less(t, size, 1000*len(texts[0])/4)
	for n := range all {
		require.Equal(t, texts[n], unpacked(t, all[n]))
	}
}

func TestWhatCannotBeUnpackedIsAnError(t *testing.T) {
	var p packer
	whole := p.pack([]byte(`{"metadata":{"name":"web"}}`))
	whole.text = whole.text[:len(whole.text)-4]
	require.ErrorContains(t, whole.read(func([]byte) error { return nil }), "unpack")
}

func FuzzWhatIsPackedComesBack(f *testing.F) {
	f.Add("{}", `{"a":1}`, strings.Repeat("ab", 40_000))
	f.Add("", "x", `{"metadata":{"name":"web"},"spec":{"replicas":3}}`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var p packer
		for _, text := range []string{a, b, c, a, c} {
			require.Equal(t, text, unpacked(t, p.pack([]byte(text))))
		}
	})
}

// TestASampleIsSmallAndSeldomMade however many texts there are, and however long.
func TestASampleIsSmallAndSeldomMade(t *testing.T) {
	var p packer
	samples := map[*s2.Dict]bool{}
	for n := range 1024 {
		samples[p.pack([]byte(strings.Repeat(fmt.Sprint(n), sampleBytes/8))).sample] = true
		require.LessOrEqual(t, len(p.texts), sampleBytes)
	}
	require.Len(t, samples, 11, "for the first text, and each time that there are twice as many")
}
