package pending

import (
	"container/heap"
	"time"
)

// job is a thing to do.
type job[K comparable] struct {
	key   K
	done  bool
	err   error
	pause time.Duration
	next  time.Time
	seq   uint64 // in which order they came
	since time.Time
	at    int // where it is in the line of its lane; below 0 nowhere
}

// before reports whether a job is done before another: that which has been due for longer, then that which came first.
func (j *job[K]) before(o *job[K]) bool {
	return j.next.Before(o.next) || j.next.Equal(o.next) && j.seq < o.seq
}

// lane is what things are asked of.
type lane[K comparable] struct {
	jobs  int
	line  line[K] // of those that are not done
	busy  bool
	err   error // why it is away; nil is that it is not
	pause time.Duration
	next  time.Time
}

// line is a heap of jobs: which is the next is found without a look at all of them.
type line[K comparable] []*job[K]

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (l line[K]) Len() int           { return len(l) }
func (l line[K]) Less(i, k int) bool { return l[i].before(l[k]) }

func (l line[K]) Swap(i, k int) {
	l[i], l[k] = l[k], l[i]
	l[i].at, l[k].at = i, k
}

func (l *line[K]) Push(j any) {
	one := j.(*job[K])
	one.at = len(*l)
	*l = append(*l, one)
}

func (l *line[K]) Pop() any {
	last := len(*l) - 1
	j := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	j.at = -1
	return j
}

// remove takes a job out, if it is in.
func (l *line[K]) remove(j *job[K]) {
	if j.at >= 0 {
		heap.Remove(l, j.at)
	}
}
