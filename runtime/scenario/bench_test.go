package scenario_test

import (
	"fmt"
	"strings"
	"testing"
)

// A file with a fleet of 100 clusters and many Deployments, as a dump of a live fleet is.
func BenchmarkDecode(b *testing.B) {
	for _, workloads := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("workloads=%d", workloads), func(b *testing.B) {
			var text strings.Builder
			text.WriteString(head + "  fleet: [{name: 'm{001..100}', region: eu}]\n")
			text.WriteString("  timeline: [{every: 1m, until: 1d, condition: {cluster: 'm*', type: Ready, toggle: true}}]\n")
			text.WriteString("  expect: [{never: true, event: {kind: EvictionStarted}}]\n")
			for i := range workloads {
				text.WriteString("---\n" + strings.Replace(deployment, "name: nginx}", fmt.Sprintf("name: web-%d}", i), 1))
			}
			f := files{"s.yaml": text.String()}
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if scenarios, problems := f.decode("s.yaml"); len(scenarios) != 1 {
					b.Fatal(problems)
				}
			}
		})
	}
}
