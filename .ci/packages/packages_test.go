package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/yaml"
)

var at = time.Unix(1_700_000_000, 0)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// files writes two files, whose times and order are of no account.
func files(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	check(t, os.WriteFile(filepath.Join(folder, "b"), []byte("text"), 0o640))
	check(t, os.WriteFile(filepath.Join(folder, "a"), []byte("#!/bin/sh"), 0o700))
	return folder
}

func TestAnArchiveDependsOnItsFilesAlone(t *testing.T) {
	var first, second bytes.Buffer
	one, two := files(t), files(t)
	check(t, os.Chtimes(filepath.Join(two, "a"), at, at))
	check(t, archive(&first, at, []string{"top=" + one}))
	check(t, archive(&second, at, []string{"top/b=" + filepath.Join(two, "b"), "top/a=" + filepath.Join(two, "a")}))
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Fatal("the same files are other bytes")
	}
	unpacked, err := gzip.NewReader(&first)
	check(t, err)
	read := tar.NewReader(unpacked)
	var names []string
	for {
		h, err := read.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		names = append(names, h.Name)
		if want := map[string]int64{"top/a": 0o755, "top/b": 0o644}[h.Name]; h.Mode != want || !h.ModTime.Equal(at) || h.Uname != "" {
			t.Fatalf("%+v", h)
		}
	}
	if !slices.Equal(names, []string{"top/a", "top/b"}) {
		t.Fatal(names)
	}
	if err := archive(io.Discard, at, []string{"nonesuch"}); err == nil {
		t.Fatal("a file that does not exist is packed")
	}
}

func TestABillOfMaterialsNamesEveryModule(t *testing.T) {
	program, err := os.Executable()
	check(t, err)
	var first, second bytes.Buffer
	check(t, sbom(&first, "v1", []string{program}))
	check(t, sbom(&second, "v1", []string{program}))
	if first.String() != second.String() {
		t.Fatal("the same program is made of other things")
	}
	var bom struct {
		BomFormat  string
		Components []struct{ Name, Purl string }
	}
	check(t, json.Unmarshal(first.Bytes(), &bom))
	found := slices.ContainsFunc(bom.Components, func(c struct{ Name, Purl string }) bool {
		return c.Name == "helm.sh/helm/v4" && strings.HasPrefix(c.Purl, "pkg:golang/helm.sh/helm/v4@v4.")
	})
	if bom.BomFormat != "CycloneDX" || !found {
		t.Fatal(first.String())
	}
	if err := sbom(io.Discard, "v1", []string{"main.go"}); err == nil {
		t.Fatal("a file that is no program is made of something")
	}
}

func TestAnImageRunsItsFirstBinaryAsNoRoot(t *testing.T) {
	folder := files(t)
	digest := func() v1.Hash {
		out := filepath.Join(t.TempDir(), "image")
		check(t, image(out, "v1", at, []string{"amd64", "arm64"}, []string{filepath.Join(folder, "a"), filepath.Join(folder, "b")}, ""))
		l, err := layout.FromPath(out)
		check(t, err)
		index, err := l.ImageIndex()
		check(t, err)
		m, err := index.IndexManifest()
		check(t, err)
		if len(m.Manifests) != 2 || m.Manifests[1].Platform.Architecture != "arm64" {
			t.Fatalf("%+v", m)
		}
		one, err := index.Image(m.Manifests[0].Digest)
		check(t, err)
		c, err := one.ConfigFile()
		check(t, err)
		if c.Config.User != user || !slices.Equal(c.Config.Entrypoint, []string{"/a"}) || c.Architecture != "amd64" || !c.Created.Time.Equal(at) {
			t.Fatalf("%+v", c)
		}
		d, err := index.Digest()
		check(t, err)
		return d
	}
	if digest() != digest() {
		t.Fatal("the same binaries are another image")
	}
}

// The chart of the repository, and its plain manifests.
const packages = "../../docs/packages/"

func render(t *testing.T, values string) (string, error) {
	t.Helper()
	var files []string
	if values != "" {
		file := filepath.Join(t.TempDir(), "values.yaml")
		check(t, os.WriteFile(file, []byte(values), 0o600))
		files = append(files, file)
	}
	var out bytes.Buffer
	err := template(&out, packages+"chart", files)
	return out.String(), err
}

func TestThePlainManifestsAreThoseOfTheChart(t *testing.T) {
	variants, err := filepath.Glob(packages + "manifests/*.values.yaml")
	check(t, err)
	if len(variants) < 4 {
		t.Fatal(variants)
	}
	for _, values := range variants {
		var out bytes.Buffer
		check(t, template(&out, packages+"chart", []string{values}))
		text := "# Rendered from docs/packages/chart with " + filepath.Base(values) + ": UPDATE=1 go test ./... in .ci/packages.\n" + out.String()
		file := strings.TrimSuffix(values, ".values.yaml") + ".yaml"
		if os.Getenv("UPDATE") != "" {
			check(t, os.WriteFile(file, []byte(text), 0o644))
		}
		have, err := os.ReadFile(file)
		check(t, err)
		if string(have) != text {
			t.Fatalf("%s is not what the chart makes: run UPDATE=1 go test ./... in .ci/packages", file)
		}
	}
}

func TestValuesThatMakeNoSenseAreRefused(t *testing.T) {
	for values, says := range map[string]string{
		"hub: {replicas: 0}":                    "minimum: got 0, want 1",
		"hubb: {}":                              "additional properties 'hubb' not allowed",
		"hub: {etcd: {servers: ['etcd:2379']}}": "does not match pattern",
		"hub: {replicas: 2, etcd: {servers: ['https://etcd:2379']}}": "hub.authoritySecret is missing",
		"agent: {enabled: true}":                                     "agent.cluster is missing",
		"agent: {enabled: true, cluster: A_B}":                       "does not match pattern",
		"record: {enabled: true, for: forever}":                      "does not match pattern",
	} {
		if _, err := render(t, values); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// rules are those of the ClusterRole among manifests.
func rules(t *testing.T, manifests string) (found []rbacv1.PolicyRule) {
	t.Helper()
	for part := range strings.SplitSeq(manifests, "\n---\n") {
		var r rbacv1.ClusterRole
		check(t, yaml.Unmarshal([]byte(part), &r))
		if r.Kind == "ClusterRole" {
			found = r.Rules
		}
	}
	return found
}

func TestTheAgentOfTheChartHasThePermissionsOfTheExample(t *testing.T) {
	text, err := render(t, "hub: {enabled: false}\nagent: {enabled: true, cluster: a}")
	check(t, err)
	example, err := os.ReadFile("../../docs/examples/agent.yaml")
	check(t, err)
	if have, want := rules(t, text), rules(t, string(example)); len(want) == 0 || !equality.Semantic.DeepEqual(have, want) {
		t.Fatalf("%+v is not %+v", have, want)
	}
}
