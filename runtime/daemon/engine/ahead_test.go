package engine

import (
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// numbered are so many items. It counts those that are taken.
func numbered(n int, taken *int) iter.Seq[item] {
	return func(yield func(item) bool) {
		for i := range n {
			*taken++
			if !yield(item{fmt.Sprintf("%05d", i), &Row{version: int64(i)}}) {
				return
			}
		}
	}
}

// few is how many items are decoded until as many are decoded in parallel as ever are.
const few = openedTogether - openedFirst

func TestWhoWantsOneOfManyHasFewDecoded(t *testing.T) {
	taken := 0
	read := func(bool) func(*item, *int64) error { return func(*item, *int64) error { return nil } }
	require.NoError(t, eachAs(numbered(5000, &taken), read, func(*item, *int64) bool { return false }))
	require.Equal(t, openedFirst, taken)
}

func TestADecoderHearsWhetherThereAreMany(t *testing.T) {
	read := func(many bool) func(*item, *bool) error {
		return func(_ *item, said *bool) error {
			*said = many
			return nil
		}
	}
	var heard []bool
	taken := 0
	require.NoError(t, eachAs(numbered(few+2*openedTogether+5, &taken), read, func(_ *item, many *bool) bool {
		heard = append(heard, *many)
		return true
	}))
	require.Len(t, heard, few+2*openedTogether+5)
	for n, many := range heard {
		require.Equal(t, n >= few && n < few+2*openedTogether, many, n)
	}
}

// TestManyAreDecodedWhileOthersAreVisited waits, while it visits the first of many, until the next of them are decoded.
func TestManyAreDecodedWhileOthersAreVisited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := make(chan struct{})
		var once sync.Once
		read := func(bool) func(*item, *int64) error {
			return func(i *item, _ *int64) error {
				if i.version >= few+openedTogether {
					once.Do(func() { close(next) })
				}
				return nil
			}
		}
		taken := 0
		require.NoError(t, eachAs(numbered(few+2*openedTogether, &taken), read, func(i *item, _ *int64) bool {
			if i.version == few {
				<-next
			}
			return true
		}))
	})
}
