package main

import (
	"runtime/debug"

	"leeward/runtime/telemetry"
)

// build says which program this is; one without build information is unknown.
func build(info *debug.BuildInfo, known bool) telemetry.Build {
	if !known {
		return telemetry.Build{Version: "unknown"}
	}
	b := telemetry.Build{Version: info.Main.Version, GoVersion: info.GoVersion}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}
