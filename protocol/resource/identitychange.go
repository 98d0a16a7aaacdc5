package resource

import (
	"fmt"
	"strings"
	"time"
)

// BoardIdentity is what a server's board and interfaces are known by. What its BMC does not show is empty.
type BoardIdentity struct {
	Serial string   `json:"serial,omitempty"`
	UUID   string   `json:"uuid,omitempty"`
	MACs   []string `json:"macs,omitempty"` // of the host's own interfaces, sorted
}

// IdentityChange is an identity that an agent read and does not trust.
type IdentityChange struct {
	// Was is the trusted one. It is empty where another one was accepted than is read, by an
	// agent that lost its disk.
	Was BoardIdentity `json:"was,omitzero"`
	Is  BoardIdentity `json:"is"`
	At  time.Time     `json:"at"` // when it was read first, by the agent's clock
}

// Words are the parts of which both differ, for people: serial number, UUID, MAC addresses.
func (c IdentityChange) Words() (out []string) {
	say := func(what, was, is string) {
		if was != is {
			out = append(out, fmt.Sprintf("%s: %s -> %s", what, shown(was), shown(is)))
		}
	}
	say("serial number", c.Was.Serial, c.Is.Serial)
	say("UUID", c.Was.UUID, c.Is.UUID)
	say("MAC addresses", strings.Join(c.Was.MACs, " "), strings.Join(c.Is.MACs, " "))
	return out
}

func shown(s string) string {
	if s == "" {
		return "not shown"
	}
	return s
}
