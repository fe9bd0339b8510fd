package engine_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// filler fills objects at random, by seed, with what their JSON can hold.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(.4).NumElements(1, 2).MaxDepth(25).Funcs(
		func(s *string, c randfill.Continue) { *s = fmt.Sprintf("%q <%d>", "é", c.Intn(3)) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1e9), resource.DecimalSI)
		},
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Unix(c.Int63n(4e9), 0) },
		func(t *metav1.MicroTime, c randfill.Continue) {
			*t = metav1.NewMicroTime(time.UnixMicro(c.Int63n(4e15)))
		},
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawBytes([]byte(`{"f:a":{}}`)) },
		func(e *runtime.RawExtension, c randfill.Continue) { e.Raw = fmt.Appendf(nil, `{"n":%d}`, c.Intn(3)) },
		func(j *api.JSON, c randfill.Continue) { j.Raw = fmt.Appendf(nil, `["<",%d]`, c.Intn(3)) },
		func(i *intstr.IntOrString, _ randfill.Continue) { *i = intstr.FromString("25%") },
	)
}

func openAll(t *testing.T, dir string) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.NewMock(), Dir: dir})
	require.NoError(t, err)
	return e
}

func TestEveryKindIsReadAsEncodingJSONReadsIt(t *testing.T) {
	dir := t.TempDir()
	e := openAll(t, dir)
	for i := range catalog.All {
		r := &catalog.All[i]
		for seed := range int64(8) {
			o := r.New()
			filler(seed).Fill(o)
			require.NoError(t, e.Commit(engine.Create(engine.Key(r.Name(), "ns", fmt.Sprint(seed)), o)))
		}
	}
	require.NoError(t, e.Close())

	again := openAll(t, dir)
	for i := range catalog.All {
		r := &catalog.All[i]
		for key, was := range e.Table(r.Name()).Snapshot().Under("", "") {
			text, err := json.Marshal(was)
			require.NoError(t, err)
			want := r.New()
			require.NoError(t, json.Unmarshal(text, want))
			is, _ := again.Table(r.Name()).Get(key)
			require.Equal(t, want, is)
		}
	}
	require.NoError(t, again.Close())
}

func TestWhatReadsAlikeIsHeldOnce(t *testing.T) {
	dir := t.TempDir()
	s := reopen(t, dir, noon)
	for name, labels := range map[string]map[string]string{"a": {"app": "web"}, "b": {"app": "web"}, "c": {"app": "db"}} { // order-free
		e := event(name)
		e.Labels = labels
		s.commit(engine.Create(eventKey(name), e))
	}
	require.NoError(t, s.Close())

	s = reopen(t, dir, noon)
	labels := map[string]reflect.Value{}
	for _, o := range s.Table(events).Snapshot().Under("", "") {
		labels[o.GetName()] = reflect.ValueOf(o.GetLabels())
	}
	require.Equal(t, labels["a"].Pointer(), labels["b"].Pointer())
	require.NotEqual(t, labels["a"].Pointer(), labels["c"].Pointer())
}
