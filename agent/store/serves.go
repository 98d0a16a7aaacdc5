package store

// keyStandby is there while the newest hold document says that the agent stands by, or while it has
// joined so and none of its own was applied. The rack's document says it too; it acts once none does.
const keyStandby = "meta/standby"

// serves is what this agent is to its rack.
type serves struct {
	synced   bool // it has the rack's document
	replaced bool
	ended    bool
	standby  bool
}

// acts says whether this agent may act on the rack's intent: not before it has one, not after it
// was replaced, nor after its term, and not while it stands by.
func (s serves) acts() bool { return s.synced && !s.replaced && !s.ended && !s.standby }
