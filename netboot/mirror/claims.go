package mirror

import "sync"

// claims are of those who will pin a file that is not whole yet. When it is, each becomes
// a hold on the content, so that no eviction comes between. Its methods are safe for
// concurrent use.
type claims struct {
	mu    sync.Mutex
	open  int      // claims that were made and not taken back
	held  bool     // they have become holds
	holds []func() // one for each claim; each is handed out once
}

// add makes a claim.
func (c *claims) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open++
}

// any reports whether somebody claims the file.
func (c *claims) any() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open > 0
}

// hold turns the claims into holds. No claim may be made after it.
func (c *claims) hold(hold func() (release func(), ok bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = true
	for range c.open {
		if release, ok := hold(); ok {
			c.holds = append(c.holds, release)
		}
	}
}

// take hands out a hold. It returns nil when there is none.
func (c *claims) take() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.holds) == 0 {
		return nil
	}
	release, c.holds = c.holds[0], c.holds[1:]
	return release
}

// withdraw takes a claim back, or releases the hold that it has become.
func (c *claims) withdraw() {
	c.mu.Lock()
	if !c.held {
		c.open--
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	if release := c.take(); release != nil {
		release()
	}
}
