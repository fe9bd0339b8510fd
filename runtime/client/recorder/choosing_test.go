package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/scenario/incident"
)

// choosing is a recording of the workloads with some label, told of changes in any order.
type choosing struct {
	*recording
	t   *testing.T
	out *bytes.Buffer
}

func newChoosing(t *testing.T) *choosing {
	out := &bytes.Buffer{}
	r := &recording{Config: &Config{Clock: clock.NewMock(), Out: out, Selector: "app=web", Tell: func(int, int) {}}}
	r.chosen = chosen{workloads: map[api.Key]bool{}, bindings: map[messages.BindingName]bool{}}
	return &choosing{r, t, out}
}

func (c *choosing) hears(kind incident.Type, r *catalog.Resource, text string) {
	o := &object{}
	require.NoError(c.t, o.UnmarshalJSON([]byte(text)))
	c.followed(r).object(kind, o)
}

func (c *choosing) workload(kind incident.Type, name string) {
	c.hears(kind, catalog.Of(api.Key{APIVersion: "apps/v1", Kind: "Deployment"}), fmt.Sprintf(
		`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "shop", "name": %q}}`, name))
}

func (c *choosing) binding(kind incident.Type, name string) {
	c.hears(kind, catalog.Bindings, fmt.Sprintf(`{"apiVersion": %q, "kind": "ResourceBinding", "metadata": {"namespace": "shop", "name": "%s-deployment"},
		"spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": %[2]q}}}`, api.WorkGroupVersion, name))
}

func (c *choosing) work(kind incident.Type, name string) {
	c.hears(kind, catalog.Works, fmt.Sprintf(`{"apiVersion": %q, "kind": "Work", "metadata": {"namespace": "karmada-es-m1", "name": "%s-work",
		"annotations": {"resourcebinding.karmada.io/namespace": "shop", "resourcebinding.karmada.io/name": "%[2]s-deployment"}}}`, api.WorkV1alpha1GroupVersion, name))
}

// recorded is what was written, each by what happened and its name.
func (c *choosing) recorded() (lines []string) {
	for d := json.NewDecoder(c.out); d.More(); {
		var l struct {
			Type   incident.Type
			Object struct{ Metadata struct{ Name string } }
		}
		require.NoError(c.t, d.Decode(&l))
		lines = append(lines, string(l.Type)+" "+l.Object.Metadata.Name)
	}
	return lines
}

func TestWhatIsHeardOfBeforeItsWorkloadIsRecordedAfterIt(t *testing.T) {
	c := newChoosing(t)
	c.work(incident.Added, "web")
	c.binding(incident.Added, "db") // is never wanted
	c.binding(incident.Added, "web")
	c.binding(incident.Modified, "web")
	require.Empty(t, c.recorded())
	c.workload(incident.Added, "web")
	require.Equal(t, []string{"ADDED web", "ADDED web-deployment", "ADDED web-work"}, c.recorded(), "as they are by then")
	c.binding(incident.Modified, "web")
	require.Equal(t, []string{"MODIFIED web-deployment"}, c.recorded())
	require.Len(t, c.chosen.early, 1, "others' wait for ever")
}

func TestWhatIsGoneBeforeItsWorkloadIsHeardOfIsNotRecorded(t *testing.T) {
	c := newChoosing(t)
	c.binding(incident.Added, "web")
	c.binding(incident.Deleted, "web")
	c.work(incident.Stood, "web")
	c.work(incident.Modified, "web")
	c.workload(incident.Added, "web")
	require.Equal(t, []string{"ADDED web"}, c.recorded())
}

func TestOnlySoManyAreKeptThatMayNeverBeWanted(t *testing.T) {
	c := newChoosing(t)
	for n := range mostEarly + 1 {
		c.binding(incident.Added, fmt.Sprint("w", n))
	}
	require.Len(t, c.chosen.early, mostEarly)
	c.workload(incident.Added, "w0")
	c.workload(incident.Added, "w1")
	require.Equal(t, []string{"ADDED w0", "ADDED w1", "ADDED w1-deployment"}, c.recorded(), "the first was forgotten")
}
