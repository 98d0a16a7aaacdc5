package mirror

import (
	"context"
	"sync"
)

// Mirror is the cache with its sites. All methods are safe for concurrent use.
type Mirror struct {
	cfg     Config
	sites   []*site // the longest path first
	store   *store
	slots   *slots
	metrics *metrics

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	flights map[string]*flight // by key
	absent  map[string]absence // by key
}
