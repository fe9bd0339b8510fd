package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leeward/messages/spelling"
	"leeward/runtime/fleet/catalog"
)

// completesWithin is how long a shell waits for the names that a server has; one that takes longer has none to offer.
const completesWithin = 2 * time.Second

// offered returns the names of a server's objects that begin as what was typed does.
func (s *serverFlags) offered(r *catalog.Resource, namespace, typed string) (names []string) {
	c, err := s.connect(io.Discard)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), completesWithin)
	defer cancel()
	all, _, err := c.List(ctx, r, namespace, "")
	if err != nil {
		return nil
	}
	for _, o := range all {
		if strings.HasPrefix(o.GetName(), typed) {
			names = append(names, o.GetName())
		}
	}
	return names
}

// offerClusters offers the clusters, or nodes, that were not named yet, after the word for them where that has to come first.
func (e *editing) offerClusters(wordFirst bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if wordFirst && len(args) == 0 {
			return []string{"clusters", "nodes"}, cobra.ShellCompDirectiveNoFileComp
		}
		resource := catalog.Clusters
		if len(args) > 0 && is(catalog.Nodes, args[0]) {
			resource = catalog.Nodes
		}
		fresh := slices.DeleteFunc(e.server.offered(resource, "", typed), func(name string) bool { return slices.Contains(args, name) })
		return fresh, cobra.ShellCompDirectiveNoFileComp
	}
}

// offerHeld offers what evictions can be held of: first the resource, then the names that were not named yet.
func (h *holding) offerHeld(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return []string{"clusters", "bindings", "clusterresourcebindings", "deployments", "statefulsets"}, cobra.ShellCompDirectiveNoFileComp
	}
	resource, namespace := catalog.Clusters, ""
	if !isClusters(args[0]) {
		resource, namespace = heldResource(args[0]), h.server.namespaced()
	}
	if resource == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	fresh := slices.DeleteFunc(h.server.offered(resource, namespace, typed), func(name string) bool { return slices.Contains(args[1:], name) })
	return fresh, cobra.ShellCompDirectiveNoFileComp
}

// heldResource is the resource of a word for what evictions can be held of; nil: the word means none.
func heldResource(word string) *catalog.Resource {
	if strings.EqualFold(word, "binding") || strings.EqualFold(word, "bindings") {
		return catalog.Bindings
	}
	for i := range catalog.All {
		kind := catalog.All[i].Kind.Kind
		if meant, known := spelling.KindMeant(word, []string{kind}); known && meant == kind {
			return &catalog.All[i]
		}
	}
	return nil
}
