package mirror

import "sync"

// arrival is how much of a file has come, for all who wait for more of it. Its methods
// are safe for concurrent use.
type arrival struct {
	mu      sync.Mutex
	bytes   int64
	ended   bool
	failure error         // why it ended before all had come
	moved   chan struct{} // closed when any of these changes
}

// arrived is an arrival at one moment. moved is closed when there is news.
type arrived struct {
	bytes   int64
	ended   bool
	failure error
	moved   <-chan struct{}
}

func newArrival() *arrival { return &arrival{moved: make(chan struct{})} }

// now returns how it is at present.
func (a *arrival) now() arrived {
	a.mu.Lock()
	defer a.mu.Unlock()
	return arrived{a.bytes, a.ended, a.failure, a.moved}
}

// reach tells all who wait that so many bytes are there.
func (a *arrival) reach(bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bytes = bytes
	close(a.moved)
	a.moved = make(chan struct{})
}

// end tells them that no more comes; failure is nil when all is there. It is called once.
func (a *arrival) end(failure error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended, a.failure = true, failure
	close(a.moved)
}
