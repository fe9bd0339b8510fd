package manifest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	yaml "go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	sigsyaml "sigs.k8s.io/yaml"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: nginx
  namespace: default
  labels:
    app: nginx
    tier: gold
spec:
  replicas: 3
  selector:
    matchLabels:
      app: nginx
  template:
    metadata:
      labels:
        app: nginx
    spec:
      containers:
      - name: nginx
        image: nginx:1.27
        ports:
        - containerPort: 80
          name: http
        env:
        - name: MODE
          value: "production"
        resources:
          requests:
            cpu: 250m
            memory: 512Mi
          limits:
            cpu: "1"
            memory: 1Gi
        readinessProbe:
          httpGet: {path: /healthz, port: http}
          periodSeconds: 5
`

// BenchmarkDeployment compares strict decoding with what it rests on (the node tree alone) and with
// what kubectl's library does.
func BenchmarkDeployment(b *testing.B) {
	data := []byte(deployment)
	b.Run("manifest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			documents, problems := Decode("fleet.yaml", data)
			require.Len(b, documents, 1)
			require.Empty(b, problems)
		}
	})
	b.Run("yaml nodes only", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var n yaml.Node
			require.NoError(b, yaml.Unmarshal(data, &n))
		}
	})
	b.Run("sigs.k8s.io yaml strict", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var d appsv1.Deployment
			require.NoError(b, sigsyaml.UnmarshalStrict(data, &d))
		}
	})
}

// BenchmarkFleet reads files of many documents; the time per document must not grow with their number.
func BenchmarkFleet(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		var file bytes.Buffer
		var list bytes.Buffer
		list.WriteString("apiVersion: v1\nkind: List\nitems:\n")
		for i := range n {
			one := bytes.Replace([]byte(deployment), []byte("name: nginx\n"), fmt.Appendf(nil, "name: nginx-%d\n", i), 1)
			fmt.Fprintf(&file, "---\n%s", one)
			lines := bytes.Split(bytes.TrimSpace(one), []byte("\n"))
			fmt.Fprintf(&list, "- %s\n", bytes.Join(lines, []byte("\n  ")))
		}
		for name, data := range map[string][]byte{"documents": file.Bytes(), "list": list.Bytes()} {
			b.Run(fmt.Sprintf("%d %s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					documents, problems := Decode("fleet.yaml", data)
					require.Len(b, documents, n)
					require.Empty(b, problems)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "us/document")
			})
		}
	}
}
