package main

import "sync/atomic"

// gate is a switch that goroutines wait at.
type gate struct{ open atomic.Bool }

func (g *gate) set(on bool) { g.open.Store(on) }

func (g *gate) is() bool { return g.open.Load() }
