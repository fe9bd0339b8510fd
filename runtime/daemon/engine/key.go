package engine

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
)

// Object is what tables hold. Once committed it is not changed by anyone.
type Object = api.Object

// Prefix begins every key of a resource: "/work.karmada.io/resourcebindings/", "/core/events/".
func Prefix(resource schema.GroupResource) string {
	group := resource.Group
	if group == "" {
		group = "core"
	}
	return "/" + group + "/" + resource.Resource + "/"
}

// Key returns "/group/resource/namespace/name", or "/group/resource/name" without a namespace.
func Key(resource schema.GroupResource, namespace, name string) string {
	if namespace == "" {
		return Prefix(resource) + name
	}
	return Prefix(resource) + namespace + "/" + name
}

// PrefixOf returns the prefix of a key, with its slash at the end, or "" if it has none.
func PrefixOf(key string) string {
	end := 0
	for range 3 {
		i := strings.IndexByte(key[end:], '/')
		if i < 0 {
			return ""
		}
		end += i + 1
	}
	return key[:end]
}

// VersionOf returns the version that an object carries, or 0 if it was never committed.
func VersionOf(o metav1.Object) int64 {
	version, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}
