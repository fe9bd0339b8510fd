package viewer

import (
	"bytes"
	"compress/gzip"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLivePageIsSmallAndComplete(t *testing.T) {
	files := Live()
	var packed bytes.Buffer
	for _, text := range files {
		w := gzip.NewWriter(&packed) // each by itself, as they are sent
		_, err := w.Write(text)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	t.Logf("%d bytes compressed", packed.Len())
	require.Less(t, packed.Len(), mostBytes)
	asked := regexp.MustCompile(`(?:from '\./|src="|href=")([^"']+)`)
	for name, text := range files {
		for _, m := range asked.FindAllSubmatch(text, -1) {
			require.Contains(t, files, string(m[1]), "asked for by %s", name)
		}
	}
	for _, name := range liveModules {
		require.True(t, name == "live.js" || slices.ContainsFunc(liveModules, func(other string) bool { return bytes.Contains(files[other], []byte(`'./`+name+`'`)) }), "%s is asked for", name)
	}
}

// TestTheLivePageAsksItsDaemonAlone reads where the page asks for anything: one place, with paths of its own server.
func TestTheLivePageAsksItsDaemonAlone(t *testing.T) {
	for name, text := range Live() {
		found := nothing.FindAllString(string(text), -1)
		if name == "liveapi.js" {
			require.Equal(t, []string{"fetch("}, found)
			require.Contains(t, string(text), "await fetch(path, ")
			continue
		}
		require.Empty(t, found, name)
		require.Empty(t, replaced.FindString(string(text)), name)
		require.NotContains(t, string(text), "document.cookie")
		require.NotContains(t, string(text), "localStorage")
	}
	require.NotRegexp(t, `<script[^>]*>[^<]|<style|\son\w+=|style=`, read("live.html"), "nothing inline, which the policy stops")
}
