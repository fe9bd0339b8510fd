package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/scenario"
)

// profile is whose behaviour recordings show.
const profile = "karmada"

// firstReport is how long it takes a cluster to report a new copy: what recordings show, within a factor
// of two. It matters where a second failure follows immediately.
const firstReport = 100 * time.Millisecond

// Scenario returns what was done as a scenario of profile karmada. The file is named in errors.
func (r *Recording) Scenario(file string) (*scenario.Scenario, error) {
	s := &scenario.Scenario{
		Name: r.Script.ID, Description: r.Script.Title, File: file, Profile: profile,
		Config: overrides(r.Script.ControlPlaneFlags), Duration: rounded(r.Script.EndSeconds),
		Members: map[messages.ClusterName]messages.MemberBehaviour{},
	}
	c := &conversion{scenario: s, file: file, uids: r.uids(), labels: map[string]map[string]string{}}
	if err := c.fleet(r.Script.Clusters); err != nil {
		return nil, err
	}
	if err := c.objects(&r.Script); err != nil {
		return nil, err
	}
	if err := c.timeline(r.Script.Events); err != nil {
		return nil, err
	}
	return s, nil
}

// uids are those of the resources by the names of their bindings. The ties of a division are broken by
// them.
func (r *Recording) uids() map[string]types.UID {
	uids := map[string]types.UID{}
	for _, b := range slices.Concat(r.Observed.InitialBindings, r.Observed.FinalBindings) {
		uids[b.Name] = b.ResourceUID
	}
	return uids
}

// conversion is one recording on its way to becoming a scenario.
type conversion struct {
	scenario *scenario.Scenario
	file     string
	uids     map[string]types.UID
	// labels are those that each cluster has by then, workloads the deployments by name.
	labels    map[string]map[string]string
	workloads []api.Key
}

func (c *conversion) fleet(clusters []Cluster) error {
	for i := range clusters {
		written := &clusters[i]
		o, err := written.object()
		if err != nil {
			return fmt.Errorf("%s: cluster %s: %w", c.file, written.Name, err)
		}
		raw, err := json.Marshal(o)
		if err != nil {
			return fmt.Errorf("%s: write cluster %s as a manifest: %w", c.file, written.Name, err)
		}
		docs, err := c.documents(raw)
		if err != nil {
			return err
		}
		c.scenario.Objects = append(c.scenario.Objects, docs...)
		c.scenario.Members[messages.ClusterName(written.Name)] = messages.MemberBehaviour{
			StartupMin: firstReport, StartupMax: firstReport, Health: cmp.Or(written.WorkloadHealth, api.Healthy),
		}
		c.labels[written.Name] = written.Labels
	}
	return nil
}

func (c *Cluster) object() (*api.Cluster, error) {
	capacity, err := quantities(c.AllocatableCPU, "1000")
	if err != nil {
		return nil, err
	}
	used, err := quantities(c.AllocatedCPU, "0")
	if err != nil {
		return nil, err
	}
	capacity[corev1.ResourceMemory] = resource.MustParse("4000Gi")
	capacity[corev1.ResourcePods] = resource.MustParse("10000")
	o := &api.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, Labels: c.Labels},
		Spec:       api.ClusterSpec{SyncMode: api.Pull, Region: c.Region, Provider: c.Provider, Taints: c.Taints},
		Status: api.ClusterStatus{
			Conditions:      c.Conditions,
			ResourceSummary: &api.ResourceSummary{Allocatable: capacity, Allocated: used},
		},
	}
	if c.Zone != "" {
		o.Spec.Zones = []string{c.Zone}
	}
	if c.Conditions == nil {
		o.Status.Conditions = []metav1.Condition{
			{Type: api.ConditionReady, Status: metav1.ConditionTrue},
			{Type: api.ConditionCompleteAPIEnablements, Status: metav1.ConditionTrue},
		}
	}
	return o, nil
}

func quantities(cpu, otherwise string) (corev1.ResourceList, error) {
	if cpu == "" {
		cpu = otherwise
	}
	q, err := resource.ParseQuantity(cpu)
	if err != nil {
		return nil, fmt.Errorf("read CPUs %q: %w", cpu, err)
	}
	return corev1.ResourceList{corev1.ResourceCPU: q}, nil
}

// objects adds those that were there at first.
func (c *conversion) objects(s *Script) error {
	for _, raw := range slices.Concat(s.ClusterTaintPolicies, s.PropagationPolicies, s.Deployments) {
		docs, err := c.documents(raw)
		if err != nil {
			return err
		}
		c.scenario.Objects = append(c.scenario.Objects, docs...)
	}
	return nil
}

// documents reads a manifest. Its resource gets the uid that it had in the recording.
func (c *conversion) documents(raw json.RawMessage) ([]manifest.Document, error) {
	docs, problems := manifest.Decode(c.file, raw)
	if len(problems) > 0 {
		return nil, problems
	}
	for _, d := range docs {
		key := api.KeyOf(d.Object)
		if key.Kind == "Deployment" {
			if uid := c.uids[propagation.BindingName(key.Kind, key.Name)]; uid != "" {
				d.Object.SetUID(uid)
			}
			c.workloads = append(c.workloads, key)
		}
	}
	return docs, nil
}

func rounded(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}
