package agent

import (
	"context"
	"fmt"
	"runtime/debug"

	"k8s.io/client-go/tools/cache"
)

// Panic is a fault of the agent. It ends the agent, and nothing else of the process.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("the agent panicked: %v", p.Value) }

// Guard does one thing, and returns the panic that ended it; nil: none did.
func Guard(do func()) (p *Panic) {
	defer func() {
		if v := recover(); v != nil {
			p = &Panic{v, debug.Stack()}
		}
	}()
	do()
	return nil
}

// border keeps panics inside of one agent. All code of the agent that others call in goroutines of theirs goes through it.
type border struct {
	end context.CancelCauseFunc
}

// within does one thing. A panic ends the agent.
func (b *border) within(do func()) {
	if p := Guard(do); p != nil {
		b.end(p)
	}
}

// handlers tell the agent of objects.
func (b *border) handlers(added func(any), updated func(before, now any), deleted func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { b.within(func() { added(o) }) },
		UpdateFunc: func(before, now any) { b.within(func() { updated(before, now) }) },
		DeleteFunc: func(o any) { b.within(func() { deleted(o) }) },
	}
}

// lean is what informers keep of objects. What cannot be made lean is kept whole.
func (b *border) lean(o any) (kept any, err error) {
	kept = o
	b.within(func() { kept, err = lean(o) })
	return kept, err
}

// index is an index of an informer. What cannot be indexed is in none.
func (b *border) index(of func(any) []string) cache.IndexFunc {
	return func(o any) (keys []string, _ error) {
		b.within(func() { keys = of(o) })
		return keys, nil
	}
}
