package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rackboot/bmc"
	"rackboot/protocol"
)

// connection is a server's BMC driver, opened again when the way to it or its
// credentials change.
type connection struct {
	driver bmc.Driver
	made   string // what the driver was made from
	denied string // what it was made from when the BMC refused the credentials
	why    string // what the BMC said then
}

func (c *connection) close() {
	if c.driver != nil {
		_ = c.driver.Close() // the session ends by itself if this fails
		c.driver = nil
	}
}

// observe reads the system now. The condition says why it could not be asked at
// all; then the observation is nil. Refused credentials are not tried again
// until they change, so that the BMC does not lock the account.
func (c *connection) observe(ctx context.Context, s *server, in protocol.ServerIntent) (*protocol.Observation, *protocol.ConditionState) {
	name := strings.TrimPrefix(in.BMC.CredentialsRef, "local:")
	creds, stamp, err := s.agent.cfg.Credentials.Read(name)
	if err != nil {
		c.close()
		return unreachable(s, in, protocol.CodeDenied, err), &protocol.ConditionState{Code: protocol.CondBMCCredentials, Message: err.Error()}
	}
	made := fmt.Sprintf("%v %s %s", in.BMC, in.SystemURI, stamp)
	if c.denied == made {
		return nil, &protocol.ConditionState{Code: protocol.CondBMCDenied, Message: c.why + "; not tried again until the credentials change"}
	}
	if c.driver == nil || c.made != made {
		c.close()
		d, err := s.agent.cfg.OpenBMC(bmc.Target{
			Server: s.name, Address: in.BMC.Address, SystemURI: in.SystemURI,
			Fingerprint: in.BMC.Fingerprint, CA: []byte(in.BMC.CA), Credentials: creds,
		})
		if err != nil {
			return unreachable(s, in, protocol.CodeOf(err), err), &protocol.ConditionState{Code: protocol.CondBMCUnreachable, Message: err.Error()}
		}
		c.driver, c.made = d, made
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	started := s.agent.cfg.Clock()
	o, err := c.driver.Observe(ctx)
	o.Server, o.StartedAt, o.ReadAt = s.name, started, s.agent.cfg.Clock()
	if o.Source == "" {
		o.Source = protocol.SourcePoll
	}
	if protocol.CodeOf(err) == protocol.CodeDenied {
		c.denied, c.why = made, err.Error()
	}
	return &o, nil
}

func unreachable(s *server, in protocol.ServerIntent, code protocol.Code, err error) *protocol.Observation {
	now := s.agent.cfg.Clock()
	return &protocol.Observation{
		Server: in.Server, StartedAt: now, ReadAt: now, Source: protocol.SourcePoll,
		Power: protocol.PowerUnreachable, Code: code, Error: err.Error(),
	}
}

// outcome takes an error apart for a decide.Result.
func outcome(err error) (code protocol.Code, message string, busy bool) {
	if err == nil {
		return "", "", false
	}
	var b *bmc.Busy
	return protocol.CodeOf(err), err.Error(), errors.As(err, &b)
}
