package main

import (
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/catalog"
)

func TestAStoreWithNodesIsNotOpenedWithoutThem(t *testing.T) {
	dir := t.TempDir()
	open := func(args ...string) (*engine.Engine, error) {
		c, err := configured(t, "dataDir: "+dir+"\n", args...)
		require.NoError(t, err)
		d := &daemon{clock: clock.New(), metrics: telemetry.New(telemetry.Config{Clock: clock.New(), StoreDir: c.storeDir()})}
		err = d.openStore(c)
		return d.engine, err
	}
	e, err := open("--nodes")
	require.NoError(t, err)
	n := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	_, err = e.CommitVersion(engine.Create(engine.Key(catalog.Nodes.Name(), "", "n1"), n))
	require.NoError(t, err)
	require.NoError(t, e.Close())

	_, err = open()
	require.ErrorContains(t, err, "nodes/n1: the store has no such resource")

	e, err = open("--nodes")
	require.NoError(t, err)
	o, _ := e.Table(catalog.Nodes.Name()).Get(engine.Key(catalog.Nodes.Name(), "", "n1"))
	require.NotNil(t, o, "it is still there")
	require.NoError(t, e.Close())
}
