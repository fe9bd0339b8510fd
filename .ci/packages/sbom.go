package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// sbom writes what binaries are made of, as the Go toolchain wrote it into them: CycloneDX, in JSON. It holds no time and no random
// number, so that the same binaries have the same one.
func sbom(out io.Writer, version string, binaries []string) error {
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = ""
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{BOMRef: "leeward", Type: cyclonedx.ComponentTypeApplication, Name: "leeward", Version: version}}
	known := map[string]cyclonedx.Component{}
	var programs []cyclonedx.Component
	var needs []cyclonedx.Dependency
	for _, file := range binaries {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		name := filepath.Base(file)
		programs = append(programs, cyclonedx.Component{BOMRef: name, Type: cyclonedx.ComponentTypeApplication, Name: name, Version: version})
		own := []string{module("stdlib", info.GoVersion, "", known)}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			own = append(own, module(m.Path, m.Version, m.Sum, known))
		}
		slices.Sort(own)
		needs = append(needs, cyclonedx.Dependency{Ref: name, Dependencies: &own})
	}
	components := programs
	for _, c := range known { // order-free: sorted below
		components = append(components, c)
	}
	slices.SortFunc(components, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	bom.Components, bom.Dependencies = &components, &needs
	return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// module notes a module, and returns how it is referred to.
func module(path, version, sum string, known map[string]cyclonedx.Component) string {
	url := "pkg:golang/" + path + "@" + version
	c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
	if sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: sum}}
	}
	known[url] = c
	return url
}
