package redfish

import (
	"context"
	"net/http"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

const opProve = "bmc.prove"

// Prove implements bmc.Accounts. A session of before says nothing of the password: it
// may have been opened with the last one.
func (d *driver) Prove(ctx context.Context) error {
	l := d.link
	l.host.forgive(l.account.credentials)
	if err := l.anew(ctx); err != nil {
		return l.proved(err)
	}
	s, err := d.read(d.call(ctx, opProve))
	switch {
	case err != nil:
		return l.proved(err)
	case s.power == protocol.PowerUnknown:
		return protocol.Errorf(protocol.CodeUnavailable, opProve, "BMC %s reports the power state %.40q", l.base, s.powerWord)
	case s.reset.target == "":
		return l.limited(&bmc.Limited{})
	}
	return nil
}

// anew logs in with the credentials themselves.
func (l *link) anew(ctx context.Context) error {
	leave, err := l.host.power.enter(ctx, opProve, false)
	if err != nil {
		return err
	}
	defer leave()
	if err := l.host.breaker.pass(opProve, time.Now(), false); err != nil {
		return err
	}
	l.account.end()
	l.forget()
	uri, why, err := l.sessionsURI(ctx)
	switch {
	case err != nil:
	case uri == "":
		l.useBasic(why, time.Now().Add(sessionCap))
	default:
		err = l.openSession(ctx, uri)
	}
	if err != nil {
		return l.settle(ctx, err)
	}
	l.host.breaker.done(true, time.Now())
	return nil
}

// proved tells an account that logs in and may do too little from one that is refused.
func (l *link) proved(err error) error {
	status, said, refused := refusal(err)
	switch {
	case refused && said.is([]string{mustChange}):
		// The change itself is allowed, by basic authentication where there is no session.
		l.host.forgive(l.account.credentials)
		if l.account.token() == "" {
			l.useBasic("the password must be changed", time.Now().Add(sessionCap))
		}
		return l.limited(&bmc.Limited{MustChange: true})
	case refused && status == http.StatusForbidden && l.account.token() != "":
		return l.limited(&bmc.Limited{})
	case !refused && protocol.CodeOf(err) == protocol.CodeDenied:
		// Another BMC's certificate: nothing was said of the account.
		return protocol.Errorf(protocol.CodeUnavailable, opProve, "%w", err).WithHint("%s", protocol.HintOf(err))
	}
	return err
}

func (l *link) limited(why *bmc.Limited) error {
	return protocol.Errorf(protocol.CodeDenied, opProve, "BMC %s: %w", l.base, why).
		WithHint("give the account the role Operator or Administrator")
}
