package boot

import (
	"net/http"
	"strings"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// goesOn says whether an exchange is a BMC's that goes on reading a medium: there are
// thousands of them, and the first says as much.
func (e indexed) goesOn(x netboot.Exchange) bool {
	return e.medium != nil && e.medium.Token == x.Token && x.Status == http.StatusPartialContent && !strings.HasPrefix(x.Range, "bytes=0-")
}

// trace takes an exchange of a boot server. A machine that is none of ours is in no trace.
func (b *segment) trace(e netboot.Exchange) {
	var server string
	var a *decide.Attempt
	x := b.room.index
	switch {
	case e.Token != "":
		var of indexed
		server, of, _ = x.token(e.Token)
		a = of.attempt
		if of.goesOn(e) {
			return
		}
	case e.Source == protocol.TraceDHCP:
		server, a = x.attemptOf(e.Client)
	default:
		if client, ok := b.leased.of(e.Remote, e.At); ok {
			server, a = x.attemptOf(client)
		}
	}
	b.room.cfg.Traces.Exchanged(server, a, e)
}
