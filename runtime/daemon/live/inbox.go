package live

import (
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// byPrefix are the resources by what the keys of their objects begin with.
var byPrefix = func() map[string]*catalog.Resource {
	index := make(map[string]*catalog.Resource, len(catalog.All))
	for i := range catalog.All {
		index[engine.Prefix(catalog.All[i].Name())] = &catalog.All[i]
	}
	return index
}()
