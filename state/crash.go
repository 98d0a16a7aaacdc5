package state

// Crasher is asked at each crash point: a place between two durable steps where
// the process may die. In production it is nil. A test's Crasher kills the
// process with SIGKILL at one named point, so that every point is proven to be
// survivable. Names are registered by the package that owns the flow.
type Crasher func(point string)

// At reports that the flow is at the point. A nil Crasher does nothing.
func (c Crasher) At(point string) {
	if c != nil {
		c(point)
	}
}
