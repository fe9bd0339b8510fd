package kubeapi

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestAnEventIsMadeAndEncodedOnce(t *testing.T) {
	var s sharing
	made, encoded := 0, 0
	make := func() *shared {
		made++
		return &shared{Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}
	}
	encode := func(o runtime.Object, w io.Writer) error {
		encoded++
		_, err := io.WriteString(w, o.(*corev1.ConfigMap).Name)
		return err
	}
	var out bytes.Buffer
	for range 3 {
		require.NoError(t, s.of(7, false, make).CacheEncode("json", encode, &out))
	}
	require.Equal(t, "aaa", out.String())
	require.Equal(t, []int{1, 1}, []int{made, encoded})

	require.NoError(t, s.of(7, false, make).CacheEncode("yaml", encode, &out))
	require.Equal(t, []int{1, 2}, []int{made, encoded}, "another form is encoded by itself")
	s.of(7, true, make)
	s.of(7+recently, false, make)
	require.Equal(t, 3, made, "a deletion, and a later change, are others")
}

func TestWhatCannotBeEncodedIsTriedAgain(t *testing.T) {
	s := &shared{Object: &corev1.ConfigMap{}}
	broken := errors.New("broken")
	require.ErrorIs(t, s.CacheEncode("json", func(runtime.Object, io.Writer) error { return broken }, io.Discard), broken)
	require.NoError(t, s.CacheEncode("json", func(runtime.Object, io.Writer) error { return nil }, io.Discard))
}

func TestWhatIsTakenFromAnEventMayBeChanged(t *testing.T) {
	s := &shared{Object: &corev1.ConfigMap{Data: map[string]string{"a": "b"}}}
	s.GetObject().(*corev1.ConfigMap).Data["a"] = "c"
	require.Equal(t, "b", s.Object.(*corev1.ConfigMap).Data["a"])
}
