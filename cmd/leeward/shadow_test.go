package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAShadowReportSumsUpByWorkload(t *testing.T) {
	t.Chdir("../..")
	var out, errs bytes.Buffer
	require.Equal(t, exitHeld, execute([]string{"shadow", "report", "cmd/leeward/testdata/comparisons.jsonl"}, &out, &errs), errs.String())
	isGolden(t, "shadow-report.golden", out.String())
	out.Reset()
	require.Equal(t, exitHeld, execute([]string{"shadow", "report", "cmd/leeward/testdata/comparisons.jsonl", "-o", "wide"}, &out, &errs), errs.String())
	require.Contains(t, out.String(), "Deployment shop/api: eviction later, from m2\n")
	require.Contains(t, out.String(), "Deployment shop/api: placement elsewhere\n")
	out.Reset()
	require.Equal(t, exitHeld, execute([]string{"shadow", "report", "cmd/leeward/testdata/comparisons.jsonl", "-o", "yaml"}, &out, &errs), errs.String())
	require.Contains(t, out.String(), "lastCopies: 1\n")
}

func TestAShadowReportOfWhatIsNoneIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.jsonl")
	require.NoError(t, os.WriteFile(file, []byte("{}\n"), 0o600))
	var out, errs bytes.Buffer
	require.Equal(t, exitInvalid, execute([]string{"shadow", "report", file}, &out, &errs))
	require.Equal(t, file+`: line 1: verdict: "" is not one of [agreed earlier later elsewhere never unasked]`+"\n", errs.String())
	require.Empty(t, out.String())
	errs.Reset()
	require.NotEqual(t, exitHeld, execute([]string{"shadow", "report", file + ".none"}, &out, &errs))
	require.Contains(t, errs.String(), "no such file")
	require.Equal(t, exitInvalid, execute([]string{"shadow", "report", file, "-o", "table"}, &out, &errs))
}
