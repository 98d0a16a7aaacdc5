package inventory

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// ReEnrolServer has the agent forget the TPM of a server, if it is the enrolment that was shown to
// whoever asks. The same again is no change. The codes are not_found, conflict, unavailable and timeout.
func (c *Room) ReEnrolServer(ctx context.Context, name string, r api.ReEnrolServer, by string) (*resource.Server, error) {
	const op = "re-enrol server"
	for try := 1; ; try++ {
		s, err := store.Get[*resource.Server](c.cfg.Store.Objects, name)
		if err != nil {
			return nil, err
		}
		rep, _ := c.cfg.Reports.Server(name)
		switch {
		case r.Enrolment != "" && s.Status.ForgetTPM == r.Enrolment:
			return s, nil
		case rep == nil:
			return nil, protocol.Errorf(protocol.CodeUnavailable, op, "the agent has not reported server %q", name).
				WithHint("wait for its agent; rackctl describe server %s", name)
		case rep.TPM == nil:
			return nil, protocol.Errorf(protocol.CodeConflict, op, "server %q has no TPM enrolled", name).
				WithHint("there is nothing to forget; rackctl server discover %s enrols one, see docs/guide/attest.md", name)
		case rep.TPM.Enrolment != r.Enrolment:
			return nil, protocol.Errorf(protocol.CodeConflict, op, "server %q has another enrolment now, %s", name, rep.TPM.Enrolment).
				WithHint("look at it again, then have it forgotten")
		}
		s.Status.ForgetTPM = r.Enrolment
		err = c.cfg.Store.Objects.Put(ctx, s)
		if protocol.CodeOf(err) == protocol.CodeConflict && try < store.Tries {
			continue
		}
		if err != nil {
			return nil, err
		}
		c.cfg.Crash.At("hub.server.reenrolled")
		c.cfg.Logger.Info("the TPM of a server is to be forgotten", "server", name, "enrolment", r.Enrolment, "by", by)
		c.cfg.Events.Own(ctx, name, resource.EventTPM, "to be forgotten, by "+by+": "+rep.TPM.Endorsement)
		return s, nil
	}
}
