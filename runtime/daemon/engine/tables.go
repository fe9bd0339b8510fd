package engine

import "leeward/runtime/fleet/catalog"

// Tables are the tables of an engine that keeps all kinds of the catalog, and further ones.
func Tables(more ...*catalog.Resource) []Resource {
	tables := make([]Resource, 0, len(catalog.All)+len(more))
	for i := range catalog.All {
		tables = append(tables, tableOf(&catalog.All[i]))
	}
	for _, r := range more {
		tables = append(tables, tableOf(r))
	}
	return tables
}

func tableOf(r *catalog.Resource) Resource {
	return Resource{Name: r.Name(), Kind: r.Kind, New: func() Object { return r.New() }, Packed: r.Numerous()}
}
