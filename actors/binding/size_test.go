package binding

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A fleet may have a million bindings, and most of them never fail over, need others or come home. What only those
// need goes behind a pointer: past, ties, failback.
func TestABindingIsSmall(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(Binding{}), uintptr(640))
}
