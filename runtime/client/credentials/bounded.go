package credentials

import (
	"fmt"
	"io"
	"net/http"
)

// mostAnswer is how long one answer of a member is read, of a watch too, which its client then begins again where it was: no member
// fills the memory of the hub. A test lowers it.
var mostAnswer int64 = 256 << 20

// bounded cuts off answers that are too long.
type bounded struct{ http.RoundTripper }

// RoundTrip makes one request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode == http.StatusSwitchingProtocols {
		return answer, err
	}
	answer.Body = &cut{answer.Body, mostAnswer}
	return answer, nil
}

// WrappedRoundTripper is what makes the requests, for those who close its connections.
func (b bounded) WrappedRoundTripper() http.RoundTripper { return b.RoundTripper }

// cut is a body of which no more is read than so many bytes.
type cut struct {
	io.ReadCloser
	left int64
}

// Read reads on, and fails past the bound.
func (c *cut) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("the member's answer is longer than %d bytes", mostAnswer)
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
