package main

import (
	"sync"
	"time"
)

// waiting are those who wait for a receipt.
type waiting struct {
	mu    sync.Mutex
	early map[string]time.Time
	who   map[string]chan time.Time
}

func newWaiting() *waiting {
	return &waiting{early: map[string]time.Time{}, who: map[string]chan time.Time{}}
}
