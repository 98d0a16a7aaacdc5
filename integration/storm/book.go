package main

import (
	"sync"

	"rackboot/integration/storm/judge"
)

// book keeps what operators asked for and were told. It is safe for concurrent use.
type book struct {
	mu  sync.Mutex
	ops []judge.Op
	err error // of the storm itself: its verdict is worth nothing
	say func(op judge.Op)
}

func (b *book) add(op judge.Op) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ops = append(b.ops, op)
	if b.say != nil {
		b.say(op)
	}
}

func (b *book) failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

func (b *book) all() ([]judge.Op, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]judge.Op(nil), b.ops...), b.err
}
