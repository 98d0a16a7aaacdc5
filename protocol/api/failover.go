package api

import (
	"context"
	"net/http"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// FailoverRequest has the standby of a rack serve it.
type FailoverRequest struct {
	Reason string `json:"reason"`
	// FirstHostOff is the caller's statement that the host of the agent before is off, or has no way to the rack.
	FirstHostOff bool `json:"firstHostOff,omitempty"`
}

// Validate says what is wrong with the form. The code is invalid.
func (r FailoverRequest) Validate() error { return EndRequest{Reason: r.Reason}.Validate() }

// FailoverAnswer says what was done.
type FailoverAnswer struct {
	Rack  string `json:"rack"`
	Agent string `json:"agent"` // that serves the rack now
	// Before is the agent that served it; empty without one.
	Before string `json:"before,omitempty"`
}

// SettleRequest ends what a failover left open: the holds of the agent before.
type SettleRequest struct {
	Reason string `json:"reason,omitempty"`
	// LossAccepted gives up what was placed at the agent before. It needs a Reason.
	LossAccepted bool `json:"lossAccepted,omitempty"`
	// Holds is a sealed message.LocalHolds of that agent, instead.
	Holds []byte `json:"holds,omitempty"`
}

// Validate says what is wrong with the form. The code is invalid.
func (r SettleRequest) Validate() error {
	const op = "settle a failover"
	switch {
	case r.LossAccepted == (len(r.Holds) > 0):
		return protocol.Errorf(protocol.CodeInvalid, op, "give the holds of the agent before, or accept that they are lost").
			WithHint("--from FILE of rackboot-agent local-holds, or --loss-accepted --reason REASON")
	case len(r.Reason) > MaxReason, r.LossAccepted && strings.TrimSpace(r.Reason) == "":
		return protocol.Errorf(protocol.CodeInvalid, op, "the reason is empty or longer than %d bytes", MaxReason).
			WithHint("say why with --reason; it is filed with your name")
	}
	return nil
}

// SettleAnswer says what was done.
type SettleAnswer struct {
	Rack string `json:"rack"`
	// Agents are those whose holds are settled; Adopted are holds that the hub has now.
	Agents  []string `json:"agents"`
	Adopted []string `json:"adopted,omitempty"`
}

func pathFailover(rack string) string { return PathObject(resource.KindRack, rack) + "/failover" }
func pathSettle(rack string) string   { return PathObject(resource.KindRack, rack) + "/settle" }

// Failover has the standby of a rack serve it.
func (a Agents) Failover(ctx context.Context, rack string, r FailoverRequest) (out FailoverAnswer, err error) {
	err = a.hub.call(ctx, http.MethodPost, pathFailover(rack), r, &out)
	return out, err
}

// Settle ends what a failover left open.
func (a Agents) Settle(ctx context.Context, rack string, r SettleRequest) (out SettleAnswer, err error) {
	err = a.hub.call(ctx, http.MethodPost, pathSettle(rack), r, &out)
	return out, err
}
