package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAShadowReportSumsUpByWorkload(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, exitHeld, execute([]string{"shadow", "report", "testdata/comparisons.jsonl"}, &out, &errs), errs.String())
	require.Equal(t, `WORKLOAD                 AGREED  EARLIER  LATER  NEVER  UNASKED  LATEST
ReplicaSet shop/web-5d8  1       0        1      0      0        1m39s
StatefulSet shop/db      0       0        0      0      1        -

ReplicaSet shop/web-5d8: later, pod shop/web-5d8-b on n1
  ours    2026-11-24T13:00:00Z by leewardd: pod shop/web-5d8-b evicting from n1: taint gpu-fault:NoExecute; not tolerated
  theirs  2026-11-24T13:01:39Z by kube-controller-manager: Taint manager: deleting due to NoExecute taint

StatefulSet shop/db: unasked, pod shop/db-0 on n1
  ours    none
  theirs  2026-11-24T13:02:00Z by kube-controller-manager: Taint manager: deleting due to NoExecute taint
`, out.String())
}

func TestAShadowReportOfWhatIsNoneIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.jsonl")
	require.NoError(t, os.WriteFile(file, []byte("{}\n"), 0o600))
	var out, errs bytes.Buffer
	require.Equal(t, exitInvalid, execute([]string{"shadow", "report", file}, &out, &errs))
	require.Equal(t, file+`: line 1: verdict: "" is not one of [agreed earlier later never unasked]`+"\n", errs.String())
	require.Empty(t, out.String())
	errs.Reset()
	require.NotEqual(t, exitHeld, execute([]string{"shadow", "report", file + ".none"}, &out, &errs))
	require.Contains(t, errs.String(), "no such file")
	require.Equal(t, exitInvalid, execute([]string{"shadow", "report", file, "-o", "wide"}, &out, &errs))
}
