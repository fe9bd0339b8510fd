package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is who runs what is in an image: the one of distroless images.
const user = "65532:65532"

// image writes an OCI layout with an image for each architecture, of static binaries alone and whatever authorities sign the
// certificates of public servers. The first binary is what it runs.
func image(folder, version string, at time.Time, architectures []string, binaries []string, authorities string) error {
	var index v1.ImageIndex = empty.Index
	index = mutate.IndexMediaType(index, types.OCIImageIndex)
	for _, architecture := range architectures {
		one, err := imageFor(architecture, version, at, binaries, authorities)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: one, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}}})
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	_, err := layout.Write(folder, index)
	return err
}

func imageFor(architecture, version string, at time.Time, binaries []string, authorities string) (v1.Image, error) {
	var files []entry
	for _, b := range binaries {
		file := strings.ReplaceAll(b, "%s", architecture)
		files = append(files, entry{filepath.Base(file), file})
	}
	run := "/" + files[0].name
	if authorities != "" {
		files = append(files, entry{"etc/ssl/certs/ca-certificates.crt", authorities})
	}
	var text bytes.Buffer
	if err := tarred(&text, at, files); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	whole, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: at}, CreatedBy: "docs/packages/release"}})
	if err != nil {
		return nil, err
	}
	config, err := whole.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", architecture, v1.Time{Time: at}
	config.Config = v1.Config{
		User: user, Entrypoint: []string{run}, WorkingDir: "/", Env: []string{"PATH=/"},
		Labels: map[string]string{"org.opencontainers.image.version": version, "org.opencontainers.image.title": files[0].name},
	}
	return mutate.ConfigFile(whole, config)
}
