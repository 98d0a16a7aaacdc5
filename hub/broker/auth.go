package broker

import (
	"crypto/subtle"
	"log/slog"
	"sync/atomic"

	"github.com/nats-io/nats-server/v2/server"

	"rackboot/hub/accounts"
)

// gate decides who a connection is and what it may do.
type gate struct {
	hub     string
	token   string      // of connections within the process
	open    atomic.Bool // agents are let in
	log     *slog.Logger
	refused func()
	refuse  func(agent string) bool // may be nil
	roster  *roster
	barred  *barred
}

// Check is called by the server for each new connection. TLS has verified the
// certificate's chain already.
func (g *gate) Check(c server.ClientAuthentication) bool {
	if g.check(c) {
		return true
	}
	g.refused()
	return false
}

func (g *gate) check(c server.ClientAuthentication) bool {
	state := c.GetTLSConnectionState()
	if state == nil {
		// Only connections within the process come without TLS. The token is a
		// second lock on that door.
		if subtle.ConstantTimeCompare([]byte(c.GetOpts().Token), []byte(g.token)) != 1 {
			g.log.Warn("broker connection refused", "reason", "no certificate")
			return false
		}
		c.RegisterUser(&server.User{Username: "hub store"})
		return true
	}
	if !g.open.Load() {
		return false
	}
	if len(state.VerifiedChains) == 0 || len(state.VerifiedChains[0]) == 0 {
		g.log.Warn("broker connection refused", "reason", "certificate not verified")
		return false
	}
	name := state.VerifiedChains[0][0].Subject.CommonName
	permissions, ok := g.permissions(name)
	if !ok {
		g.log.Warn("broker connection refused", "reason", "the certificate names no agent")
		return false
	}
	if g.barred.is(name, host(c.RemoteAddress())) {
		g.log.Debug("broker connection refused", "reason", "it asked for a session to be kept", "agent", name)
		return false
	}
	c.RegisterUser(&server.User{Username: name, Permissions: permissions})
	// Asked after the name is known to the server: a connection that comes while its
	// agent is being cut is then refused here or found by Cut.
	if name != g.hub && g.refuse != nil && g.refuse(name) {
		g.log.Warn("broker connection refused", "reason", "the agent is refused", "agent", name)
		return false
	}
	g.roster.enter(name, c.GetID())
	return true
}

// permissions are derived from the name and cannot hold a wildcard.
func (g *gate) permissions(name string) (*server.Permissions, bool) {
	if name == g.hub {
		return permit(accounts.Hub()), true
	}
	if r, ok := accounts.Agent(name); ok {
		return permit(r), true
	}
	return nil, false
}

func permit(r accounts.Rights) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: r.PublishSubjects()},
		Subscribe: &server.SubjectPermission{Allow: r.SubscribeSubjects()},
	}
}
