package live

import (
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// byPrefix are the resources by what the keys of their objects begin with.
var byPrefix = func() map[string]*catalog.Resource {
	index := map[string]*catalog.Resource{}
	for _, r := range catalog.Kept() {
		index[engine.Prefix(r.Name())] = r
	}
	return index
}()
