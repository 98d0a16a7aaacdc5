package store

import (
	"slices"
	"sync"

	"rackboot/state"
)

// The bounds of what shares one transaction. A writer whose own writes are large gets one for
// itself sooner: see [disk.together].
const (
	callsTogether = 64
	bytesTogether = partBytes / 2
)

// call is one update on its way to the disk.
type call struct {
	fn     func(state.Txn) error
	done   chan error // has room for the one answer
	err    error      // of fn, in a shared transaction
	writes []write    // of fn
}

// calls are those that wait, the oldest first. Each is of a goroutine that waits for it, so the
// goroutines bound them.
type calls struct {
	mu   sync.Mutex
	wait []*call
}

func (cs *calls) add(c *call) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.wait = append(cs.wait, c)
}

func (cs *calls) take(most int) []*call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	most = min(most, len(cs.wait))
	taken := slices.Clone(cs.wait[:most])
	cs.wait = slices.Delete(cs.wait, 0, most)
	return taken
}

// update runs fn in a transaction, and takes over into the mirror what it wrote. Writers run
// one at a time. Those that wait for a disk that is slow to say "written" share one
// transaction, in which each sees what the ones before it wrote; an error of fn undoes only its
// own writes. fn may run more than once, and only its last run counts.
func (disk *disk) update(fn func(state.Txn) error) error {
	c := &call{fn: fn, done: make(chan error, 1)}
	disk.calls.add(c)
	select {
	case err := <-c.done:
		return err
	case disk.write <- struct{}{}:
	}
	defer disk.letGo()
	for {
		select {
		case err := <-c.done:
			return err
		default:
			disk.together(disk.calls.take(callsTogether))
		}
	}
}

// hold waits for the turn to write, and letGo ends it.
func (disk *disk) hold()  { disk.write <- struct{}{} }
func (disk *disk) letGo() { <-disk.write }

// together answers all, in as few transactions as are sure to fit. It needs the turn.
func (disk *disk) together(all []*call) {
	for len(all) > 1 {
		joined := 0
		ran := false
		err := disk.commit(func(t state.Txn) (err error) {
			joined, err = join(t, all)
			ran = err == nil
			return err
		})
		if !ran {
			break // one of them does not fit, or the store fails: each learns by itself
		}
		for _, c := range all[:joined] {
			switch {
			case err == nil:
				c.done <- c.err
			case len(c.writes) > 0:
				c.done <- err
			default: // what it read is void
				c.done <- disk.commit(c.fn)
			}
		}
		all = all[joined:]
	}
	for _, c := range all {
		c.done <- disk.commit(c.fn)
	}
}

// join runs calls, each on what the ones before it wrote, until enough is written. It returns
// how many have run.
func join(t state.Txn, all []*call) (joined int, err error) {
	size := 0
	for _, c := range all {
		if size > bytesTogether {
			break
		}
		d := draft{base: t, values: map[string][]byte{}}
		c.err, c.writes = c.fn(&d), nil
		if joined++; c.err != nil {
			continue
		}
		c.writes = d.unit
		for _, w := range c.writes {
			size += len(w.key) + len(w.value) + writeCost
			if err := w.on(t); err != nil {
				return 0, err
			}
		}
	}
	return joined, nil
}
