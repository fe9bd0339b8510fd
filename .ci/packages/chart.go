package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// The release that manifests are rendered for.
const (
	release   = "leeward"
	namespace = "leeward-system"
)

// kubernetes decodes what Kubernetes knows, and refuses a field that it does not know.
var kubernetes = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// template renders a chart by helm's own engine, with values of files, to which its schema is applied, and lints it with them.
func template(out io.Writer, folder string, files []string) error {
	values := map[string]any{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var more map[string]any
		if err := yaml.UnmarshalStrict(text, &more); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		values = loader.MergeMaps(values, more)
	}
	if err := linted(folder, values); err != nil {
		return err
	}
	c, err := loader.Load(folder)
	if err != nil {
		return err
	}
	merged, err := util.ToRenderValues(c, values, common.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return err
	}
	rendered, err := engine.Engine{Strict: true}.Render(c, merged)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		text := strings.TrimSpace(rendered[name])
		if text == "" || strings.HasSuffix(name, ".tpl") {
			continue
		}
		for part := range strings.SplitSeq(text, "\n---\n") {
			if _, _, err := kubernetes.Decode([]byte(part), nil, nil); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if _, err := fmt.Fprintf(out, "---\n%s\n", text); err != nil {
			return err
		}
	}
	return nil
}

// linted reports what helm lint finds that is more than advice.
func linted(folder string, values map[string]any) error {
	var problems []error
	for _, m := range lint.RunAll(folder, values, namespace).Messages {
		if m.Severity >= support.WarningSev {
			problems = append(problems, errors.New(m.Error()))
		}
	}
	return errors.Join(problems...)
}
