package agent

import "sync"

// maxDenials bounds what is remembered; beyond it everything is forgotten, which costs
// a login each.
const maxDenials = 1024

// denials remembers which accounts BMCs refused, so that nobody tries them again until
// they change: BMCs lock accounts after a few. It is safe for concurrent use.
type denials struct {
	mu  sync.Mutex
	why map[string]string // by way.account
}

func newDenials() *denials { return &denials{why: map[string]string{}} }

// of says what the BMC said when it refused the account.
func (d *denials) of(account string) (why string, denied bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	why, denied = d.why[account]
	return why, denied
}

// forget has the account tried again: another one was in use since.
func (d *denials) forget(account string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.why, account)
}

func (d *denials) note(account, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.why) >= maxDenials {
		clear(d.why)
	}
	d.why[account] = why
}
