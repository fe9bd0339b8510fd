package override

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"leeward/messages/api"
)

// image is a name of the form [registry/]repository[:tag][@digest].
type image struct{ registry, repository, tag, digest string }

// parseImage takes a name apart. What is before the first slash is a registry only where it has a dot or a port, or is
// localhost. Source: the grammar of distribution/reference.
func parseImage(name string) (image, error) {
	var i image
	rest, digest, _ := strings.Cut(name, "@")
	if colon := strings.LastIndexByte(rest, ':'); colon > strings.LastIndexByte(rest, '/') {
		rest, i.tag = rest[:colon], rest[colon+1:]
	}
	i.repository, i.digest = rest, digest
	if first, after, found := strings.Cut(rest, "/"); found && (strings.ContainsAny(first, ".:") || first == "localhost") {
		i.registry, i.repository = first, after
	}
	if i.repository == "" {
		return i, fmt.Errorf("image %q: want [registry/]repository[:tag]", name)
	}
	return i, nil
}

// String puts the name together again.
func (i image) String() string {
	name := i.repository
	if i.registry != "" {
		name = i.registry + "/" + name
	}
	if i.tag != "" {
		name += ":" + i.tag
	}
	if i.digest != "" {
		name += "@" + i.digest
	}
	return name
}

var (
	tagRule    = regexp.MustCompile(`^\w[\w.-]{0,127}$`)
	digestRule = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$`)
)

// mark replaces the tag and the digest by either. What is neither changes nothing, as in Karmada.
func (i *image) mark(value string) {
	value = strings.TrimPrefix(value, "@")
	switch {
	case tagRule.MatchString(value):
		i.tag, i.digest = value, ""
	case digestRule.MatchString(value):
		i.tag, i.digest = "", value
	}
}

// changed returns a name with one component changed.
func changed(name string, o *api.ImageOverrider) (string, error) {
	i, err := parseImage(name)
	if err != nil {
		return "", err
	}
	switch o.Component {
	case api.ImageRegistry:
		i.registry = component(i.registry, o)
	case api.ImageRepository:
		i.repository = component(i.repository, o)
	case api.ImageTag:
		i.mark(component(cmp.Or(i.tag, i.digest), o))
		if o.Operator == api.OverrideRemove {
			i.tag, i.digest = "", ""
		}
	}
	return i.String(), nil
}

func component(value string, o *api.ImageOverrider) string {
	switch o.Operator {
	case api.OverrideAdd:
		return value + o.Value
	case api.OverrideReplace:
		return o.Value
	}
	return ""
}

// image changes the image at a path, or those of all containers.
func (d *document) image(o *api.ImageOverrider) error {
	if o.Predicate != nil {
		return d.imageAt(o.Predicate.Path, o)
	}
	for _, c := range d.containers() {
		name, _ := c["image"].(string)
		next, err := changed(name, o)
		if err != nil {
			return fmt.Errorf("container %v: %w", c["name"], err)
		}
		c["image"] = next
	}
	return nil
}

func (d *document) imageAt(path string, o *api.ImageOverrider) error {
	name, set, err := d.text(path)
	if err != nil {
		return err
	}
	next, err := changed(name, o)
	if err != nil {
		return fmt.Errorf("path %q: %w", path, err)
	}
	return set(next)
}
