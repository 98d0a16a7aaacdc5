package rollouts

import (
	"reflect"
	"sync"
)

// waits are the roll-outs that wait for an approval to install servers anew, by server, as of the last
// turn. It is safe for concurrent use; one turn runs at a time.
type waits struct {
	mu   sync.Mutex
	last map[string]installs
	next map[string]installs // of the turn that runs
}

func newWaits() *waits { return &waits{last: map[string]installs{}} }

// begin begins a turn.
func (w *waits) begin() { w.next = map[string]installs{} }

func (w *waits) add(server string, i installs) { w.next[server] = i }

// end ends a turn, and returns the servers for which another approval is waited for than before.
func (w *waits) end() (news []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, of := range []map[string]installs{w.last, w.next} {
		for server := range of {
			if !reflect.DeepEqual(w.last[server], w.next[server]) {
				news = append(news, server)
			}
		}
	}
	w.last = w.next
	return news
}

// all are those of the last turn; not to be changed.
func (w *waits) all() map[string]installs {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}
