package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatAManifestMayTakeOver(t *testing.T) {
	const (
		plain     = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}"
		overwrite = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop, annotations: {work.karmada.io/conflict-resolution: Overwrite}}}"
		abort     = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop, annotations: {work.karmada.io/conflict-resolution: abort}}}"
		ours      = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop, annotations: {work.karmada.io/name: web, work.karmada.io/namespace: karmada-es-m1}}}"
		another   = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop, annotations: {work.karmada.io/name: web, work.karmada.io/namespace: karmada-es-m2}}}"
	)
	const taken = "ConfigMap shop/a exists, and no Work applied it: conflictResolution: Overwrite in its policy, or the annotation work.karmada.io/conflict-resolution: overwrite, takes it over"
	const unmarked, other = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop, uid: the-uid}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop, uid: another-uid}}"
	for name, c := range map[string]struct{ manifest, live, refusal string }{
		"what was applied, without its marks":  {plain, unmarked, ""},
		"what was made again by something":     {plain, other, taken},
		"what does not exist":                  {plain, "", ""},
		"what is of the same Work":             {plain, ours, ""},
		"what is of nothing":                   {plain, plain, taken},
		"what is of nothing, and may not be":   {abort, plain, taken},
		"what is of nothing, and may be":       {overwrite, plain, ""},
		"what is of the Work of another fleet": {plain, another, "ConfigMap shop/a exists, and is of the Work karmada-es-m2/web"},
		"what is of another, and may be":       {overwrite, another, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := workWith()
			manifest := object(t, c.manifest)
			err := mayTake(manifest, nil, w, "the-uid")
			require.NoError(t, err)
			if c.live != "" {
				err = mayTake(manifest, object(t, c.live), w, "the-uid")
			}
			if c.refusal == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.refusal)
		})
	}
}

func TestAMarkSaysOfWhichWorkAnObjectIs(t *testing.T) {
	o := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app: x}}}")
	require.Empty(t, workOf(o, "karmada-es-m1"))
	mark(o, workWith())
	require.Equal(t, "web", workOf(o, "karmada-es-m1"))
	require.Empty(t, workOf(o, "karmada-es-m2"))
	require.Equal(t, map[string]string{"app": "x", "karmada.io/managed": "true"}, o.GetLabels())
}
