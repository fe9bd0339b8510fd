package expect

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// Tasks is the exact set of graceful eviction tasks, each as the fields that it must have.
type Tasks []map[string]any

// TaskFrom asks of a task only that it leaves a cluster.
func TaskFrom(cluster string) map[string]any { return map[string]any{"fromCluster": cluster} }

// String returns "evicting from member2", with the tasks' fields where more than the cluster is asked for.
func (t Tasks) String() string {
	if len(t) == 0 {
		return "has no eviction task"
	}
	if !t.onlyFrom() {
		return "has the eviction tasks " + compact(t)
	}
	words := make([]string, len(t))
	for i, task := range t {
		words[i], _ = task["fromCluster"].(string)
	}
	slices.Sort(words)
	return "evicting from " + strings.Join(words, ", ")
}

func (t Tasks) onlyFrom() bool {
	return !slices.ContainsFunc(t, func(task map[string]any) bool { return len(task) != 1 || task["fromCluster"] == nil })
}

// judge asks for as many tasks as wanted, each wanted one being there and each being wanted.
func (t Tasks) judge(b *store.Binding) (holds bool, seen string) {
	got := make(Tasks, len(b.Spec.GracefulEvictionTasks))
	for i := range got {
		got[i] = t.fields(&b.Spec.GracefulEvictionTasks[i])
	}
	holds = len(got) == len(t)
	for i := 0; i < len(t) && holds; i++ {
		holds = slices.ContainsFunc(got, func(g map[string]any) bool { return mismatch("", t[i], g) == "" }) &&
			slices.ContainsFunc(t, func(w map[string]any) bool { return mismatch("", w, got[i]) == "" })
	}
	return holds, got.String()
}

// fields returns a task with as many of its fields as matter.
func (t Tasks) fields(task *api.GracefulEvictionTask) map[string]any {
	if t.onlyFrom() {
		return TaskFrom(task.FromCluster)
	}
	all, _ := tree(task)
	fields, _ := all.(map[string]any)
	return fields
}

// Conditions are the conditions that there must be, among others: of each its type, and what else is
// set of status, reason and message.
type Conditions []metav1.Condition

// String returns "has Scheduled=False (NoClusterFit)".
func (c Conditions) String() string {
	words := make([]string, len(c))
	for i := range c {
		words[i] = conditionWord(&c[i])
	}
	return "has " + strings.Join(words, ", ")
}

func (c Conditions) judge(b *store.Binding) (holds bool, seen string) {
	holds = true
	got := make(Conditions, len(c))
	for i := range c {
		j := slices.IndexFunc(b.Status.Conditions, func(o metav1.Condition) bool { return o.Type == c[i].Type })
		if j < 0 {
			holds, got[i] = false, metav1.Condition{Type: "no " + c[i].Type}
			continue
		}
		got[i] = b.Status.Conditions[j]
		holds = holds && hasAll(&c[i], &got[i])
	}
	return holds, got.String()
}

func hasAll(want, got *metav1.Condition) bool {
	return (want.Status == "" || want.Status == got.Status) &&
		(want.Reason == "" || want.Reason == got.Reason) &&
		(want.Message == "" || want.Message == got.Message)
}

// conditionWord returns "Scheduled=False (NoClusterFit: 0/3 clusters)".
func conditionWord(c *metav1.Condition) string {
	word := c.Type
	if c.Status != "" {
		word += "=" + string(c.Status)
	}
	because := strings.Trim(c.Reason+": "+c.Message, ": ")
	if because == "" {
		return word
	}
	return word + " (" + because + ")"
}
