package storetest

import (
	"context"

	"rackboot/state"
)

// Deaf is a store whose watch brings nothing while it is deaf, as to a hub that was stopped.
type Deaf struct {
	*Memory
	Hears chan struct{} // closed once it hears again
}

// NewDeaf makes a Deaf that hears nothing.
func NewDeaf() *Deaf { return &Deaf{Memory: NewMemory(), Hears: make(chan struct{})} }

// Watch brings what the Memory brings, once it hears again.
func (k *Deaf) Watch(ctx context.Context, prefix string, after uint64) (<-chan []state.Entry, error) {
	from, err := k.Memory.Watch(ctx, prefix, after)
	if err != nil {
		return nil, err
	}
	out := make(chan []state.Entry)
	go func() {
		defer close(out)
		for change := range from {
			select {
			case <-k.Hears:
			case <-ctx.Done():
				return
			}
			select {
			case out <- change:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}
