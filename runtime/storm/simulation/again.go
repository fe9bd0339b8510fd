package simulation

import "time"

// again is what people do to what counts already, for some of the cases: a taint that is taken off and put on again in one
// instant, so that its time is newer; a policy whose tolerations are edited while they count down; a workload that is scaled
// to zero and back. It comes from dice of its own, so that the rest of a case does not depend on it.
func again(c *Case, workloads int) (steps []mapping) {
	d := newDice(c.Seed ^ 0xa6a1)
	if !d.chance(35) {
		return nil
	}
	at := d.seconds(0, int(c.Duration/time.Second)/2)
	later := at + d.seconds(1, 300)
	switch d.IntN(3) {
	case 0:
		taint := mapping{"cluster": d.someClusters(len(c.Fleet)), "taints": []string{"ours:NoExecute"}}
		return []mapping{step(at, "taint", taint), step(later, "untaint", taint), step(later, "taint", taint)}
	case 1:
		taint := mapping{"cluster": d.someClusters(len(c.Fleet)), "taints": []string{"ours:NoExecute"}}
		edit := step(later, "apply", d.policy(d.IntN(workloads), len(c.Fleet)))
		edit["mayFail"] = true
		return []mapping{step(at, "taint", taint), edit}
	default:
		of := "default/" + workload(d.IntN(workloads))
		return []mapping{
			step(at, "scale", mapping{"workload": of, "replicas": 0}),
			step(later, "scale", mapping{"workload": of, "replicas": d.between(1, 9)}),
		}
	}
}
