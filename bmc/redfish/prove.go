package redfish

import (
	"context"
	"net/http"

	"rackboot/bmc"
	"rackboot/protocol"
)

// prove logs in anew and reads the system. A session of before says nothing of the password: it
// may have been opened with the last one.
func (a *accounts) prove(ctx context.Context) error {
	l := a.link
	if err := l.anew(ctx, opProve); err != nil {
		return a.proved(err)
	}
	s, err := a.locator.read(newCall(ctx, opProve, l))
	switch {
	case err != nil:
		return a.proved(err)
	case s.power == protocol.PowerUnknown:
		return protocol.Errorf(protocol.CodeUnavailable, opProve, "BMC %s reports the power state %.40q", l.base, s.powerWord).
			WithHint("the account logs in; it is proved again once the BMC reports a state. If it never does, update its firmware")
	case s.reset.target == "":
		return a.limited(&bmc.Limited{})
	}
	return nil
}

// proved tells an account that logs in and may do too little from one that is refused.
func (a *accounts) proved(err error) error {
	status, said, refused := refusal(err)
	switch {
	case refused && said.is([]string{mustChange}):
		// The change itself is allowed, by basic authentication where there is no session.
		a.link.allowChange()
		return a.limited(&bmc.Limited{MustChange: true})
	case refused && status == http.StatusForbidden && a.link.token() != "":
		return a.limited(&bmc.Limited{})
	case !refused && protocol.CodeOf(err) == protocol.CodeDenied:
		// Another BMC's certificate: nothing was said of the account.
		return protocol.Errorf(protocol.CodeUnavailable, opProve, "%w", err).WithHint("%s", protocol.HintOf(err))
	}
	return err
}

func (a *accounts) limited(why *bmc.Limited) error {
	return protocol.Errorf(protocol.CodeDenied, opProve, "BMC %s: %w", a.link.base, why).
		WithHint("give the account the role Operator or Administrator")
}
