package kubeapi_test

import (
	"fmt"
	"math/rand"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"

	"leeward/messages/api"
)

// each runs a writer for each number below n, and waits for them.
func each(t *testing.T, d *daemon, n int, write func(c dynamic.ResourceInterface, writer int) error) {
	t.Helper()
	var wait sync.WaitGroup
	failed := make(chan error, n)
	for writer := range n {
		c := d.in(bindings, editor)
		wait.Add(1)
		go func() {
			defer wait.Done()
			failed <- write(c, writer)
		}()
	}
	wait.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}
}

func TestInformersAgreeHoweverManyWrite(t *testing.T) {
	t.Parallel()
	const writes = 100
	d := serve(t)
	copies := make([]cache.SharedIndexInformer, 4)
	for i := range copies {
		copies[i] = follow(t, d)
	}
	each(t, d, 8, func(c dynamic.ResourceInterface, writer int) error {
		chance := rand.New(rand.NewSource(int64(writer)))
		for i := range writes {
			if err := anyWrite(t, c, fmt.Sprintf("w%d-%d", writer, chance.Intn(10)), i, chance); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range copies {
		require.Eventually(t, func() bool { return agrees(c, d.engine) }, time.Minute, 20*time.Millisecond)
	}
}

// anyWrite creates, patches or deletes a binding that only one writer writes.
func anyWrite(t *testing.T, c dynamic.ResourceInterface, name string, i int, chance *rand.Rand) error {
	_, err := c.Get(t.Context(), name, metav1.GetOptions{})
	switch {
	case err != nil:
		_, err = c.Create(t.Context(), object(api.WorkGroupVersion, "ResourceBinding", "default", name, map[string]any{
			"resource": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
		}), metav1.CreateOptions{})
	case chance.Intn(3) == 0:
		err = c.Delete(t.Context(), name, metav1.DeleteOptions{})
	default:
		patch := fmt.Sprintf(`{"metadata":{"labels":{"i":"%d"}}}`, i)
		_, err = c.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
	return err
}

func TestNoIncrementIsLost(t *testing.T) {
	t.Parallel()
	const writers, increments = 8, 20
	d := serve(t)
	d.create(bindings, object(api.WorkGroupVersion, "ResourceBinding", "default", "b", map[string]any{
		"resource": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "b"},
	}))
	again := retry.DefaultRetry
	again.Steps, again.Duration = 1000, time.Millisecond
	each(t, d, writers, func(c dynamic.ResourceInterface, _ int) error {
		for range increments {
			err := retry.RetryOnConflict(again, func() error {
				b, err := c.Get(t.Context(), "b", metav1.GetOptions{})
				if err != nil {
					return err
				}
				n, _ := strconv.Atoi(b.GetLabels()["n"])
				b.SetLabels(map[string]string{"n": strconv.Itoa(n + 1)})
				_, err = c.Update(t.Context(), b, metav1.UpdateOptions{})
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	require.Equal(t, strconv.Itoa(writers*increments), d.get(bindings, "b").GetLabels()["n"])
}
