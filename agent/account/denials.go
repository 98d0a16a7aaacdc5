package account

import "sync"

// maxDenials bounds what is remembered; beyond it everything is forgotten, which costs
// a login each.
const maxDenials = 1024

// Denials remembers which accounts BMCs refused, so that nobody tries them again until
// they change: BMCs lock accounts after a few. It is safe for concurrent use.
type Denials struct {
	mu  sync.Mutex
	why map[string]string // by Way.Account
}

// NewDenials makes one that remembers no account.
func NewDenials() *Denials { return &Denials{why: map[string]string{}} }

// Of returns what the BMC said when it refused the account, and reports whether it did.
func (d *Denials) Of(account string) (why string, denied bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	why, denied = d.why[account]
	return why, denied
}

// Forget has the account tried again: another one was in use since.
func (d *Denials) Forget(account string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.why, account)
}

// Note remembers that a BMC refused the account, and what it said.
func (d *Denials) Note(account, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.why) >= maxDenials {
		clear(d.why)
	}
	d.why[account] = why
}
