package link

import (
	"context"
	"sync"
)

// message is one message that arrived.
type message struct {
	topic   string
	payload []byte
}

// queue holds what waits for OnMessage, bounded in messages and bytes. When it
// is full the oldest are dropped: documents replace each other and are resent.
type queue struct {
	mu       sync.Mutex
	messages []message
	bytes    int
	maxLen   int
	maxBytes int
	more     chan struct{} // holds a token while there may be messages
}

func newQueue(maxLen, maxBytes int) *queue {
	return &queue{maxLen: maxLen, maxBytes: maxBytes, more: make(chan struct{}, 1)}
}

// push never waits and says how many messages it dropped.
func (q *queue) push(m message) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.messages) > 0 && (len(q.messages) >= q.maxLen || q.bytes+m.size() > q.maxBytes) {
		q.bytes -= q.messages[0].size()
		q.messages[0] = message{}
		q.messages = q.messages[1:]
		dropped++
	}
	q.messages = append(q.messages, m)
	q.bytes += m.size()
	select {
	case q.more <- struct{}{}:
	default:
	}
	return dropped
}

// pop waits for a message; ok is false once ctx has ended.
func (q *queue) pop(ctx context.Context) (m message, ok bool) {
	for {
		if ctx.Err() != nil {
			return message{}, false
		}
		if m, ok := q.take(); ok {
			return m, true
		}
		select {
		case <-ctx.Done():
			return message{}, false
		case <-q.more:
		}
	}
}

func (q *queue) take() (message, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.messages) == 0 {
		q.messages = nil
		return message{}, false
	}
	m := q.messages[0]
	q.messages[0] = message{}
	q.messages = q.messages[1:]
	q.bytes -= m.size()
	return m, true
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.messages)
}

func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

func (m message) size() int { return len(m.topic) + len(m.payload) }
