package karmada

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
)

// readOnly has a client refuse every request that is no read, before it leaves the process.
func readOnly(c *rest.Config) *rest.Config {
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return reads{next} })
	return c
}

type reads struct{ next http.RoundTripper }

// RoundTrip makes a request.
func (r reads) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Method != http.MethodGet {
		return nil, fmt.Errorf("%s %s: a daemon in shadow only reads", q.Method, q.URL.Path)
	}
	return r.next.RoundTrip(q)
}
