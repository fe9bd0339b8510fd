package viewer

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLivePageIsComplete(t *testing.T) {
	files := Live()
	asked := regexp.MustCompile(`(?:src="|href=")([^"']+)`)
	for name, text := range files {
		for _, m := range asked.FindAllSubmatch(text, -1) {
			require.Contains(t, files, string(m[1]), "asked for by %s", name)
		}
	}
}

// TestTheLivePageAsksItsDaemonAlone reads where the page asks for anything: one place, with paths of its own server.
func TestTheLivePageAsksItsDaemonAlone(t *testing.T) {
	for _, name := range append([]string{"live.html", "live.css", "viewer.css"}, liveModules...) {
		text := read(name)
		found := nothing.FindAllString(text, -1)
		if name == "liveapi.js" {
			require.Equal(t, []string{"fetch("}, found)
			require.Contains(t, text, "await fetch(path, ")
			continue
		}
		require.Empty(t, found, name)
		require.Empty(t, replaced.FindString(text), name)
		require.NotContains(t, text, "document.cookie")
		require.NotContains(t, text, "localStorage")
	}
	require.NotRegexp(t, `<script[^>]*>[^<]|<style|\son\w+=|style=`, read("live.html"), "nothing inline, which the policy stops")
}
