package sim

import (
	"net/http"
	"time"

	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// faultPresets are BMCs that take an order and do nothing, or cannot be read: what an agent
// must name instead of trying in silence.
func faultPresets() []Personality {
	disabled := string(protocol.OverrideDisabled)
	return []Personality{
		quirk("ForceOffIgnored", "ForceOff is routed where nothing does it; sonic-net/sonic-mgmt #27237, openbmc/openbmc #2803", nil, func(p *Personality) {
			p.Power.IgnoreForce = true
		}),
		quirk("ResetTaskFails", "HPE RMC: a reset is 202 with a Task (DMTF/Redfishtool #55); that it fails with Messages is DSP0266", nil, func(p *Personality) {
			p.Power.TaskFails, p.Power.TaskTakes = true, time.Second
		}),
		quirk("DisarmsByNone", "Disabled is refused while None is taken; ironcore-dev/metal-operator #998 from the other side", nil, func(p *Personality) {
			p.Boot.RefuseEnabled = disabled
		}),
		quirk("DisarmsByHdd", "Disabled and None are refused; a further step from metal-operator #998 and ansible #11542", nil, func(p *Personality) {
			p.Boot.RefuseEnabled, p.Boot.RefuseTargets = disabled, []string{"None"}
		}),
		quirk("KeepsOverride", "assumed, without a report: nothing takes an override away", nil, func(p *Personality) {
			p.Boot.RefuseEnabled, p.Boot.RefuseTargets = disabled, []string{"None", "Hdd"}
		}),
		quirk("SlowDrip", "assumed, without a report: an answer that begins and does not end; check_redfish #90 has one that breaks", nil, func(p *Personality) {
			p.Wire.Drip = time.Second
		}),
		quirk("ShortBody", "Dell iDRAC8: the connection ends in the middle of a body; check_redfish #90", nil, func(p *Personality) {
			p.Wire.Short = true
		}),
		quirk("SessionsForbidden", "SessionLimitExceeded of the Base registry with 403: no status belongs to it (DSP0268)", nil, func(p *Personality) {
			p.Session.Max, p.Session.FullStatus, p.Session.FullID = 1, http.StatusForbidden, "Base.1.13.SessionLimitExceeded"
		}),
		quirk("SessionsTooMany", "the same with 429 and without a MessageId", nil, func(p *Personality) {
			p.Session.Max, p.Session.FullStatus = 1, http.StatusTooManyRequests
		}),
		quirk("PowerAbsent", "HPE iLO6 1.70: no PowerState; ironcore-dev/metal-operator #594, #601", tree.HPE(), func(p *Personality) {
			p.Power.Absent = true
		}),
		quirk("UpdateMovesSystem", "newer firmware names a resource otherwise (sonic-net/sonic-buildimage #29631 of inventories): the system is 404 at its path", nil, func(p *Personality) {
			p.Update.Moves = tree.SystemsURI + "/host0"
		}),
	}
}
