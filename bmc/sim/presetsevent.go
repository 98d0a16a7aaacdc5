package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// eventPresets are about events and logs.
func eventPresets() []Personality {
	return []Personality{
		quirk("DellStream", "Dell (captured tree): events at /redfish/v1/SSE", tree.Dell(), nil),
		quirk("LenovoStream", "Lenovo (captured tree): events at EventService/ServerSentEvent", tree.Lenovo(), nil),
		quirk("NoStream", "HPE iLO5, Supermicro 11.01, GH200 (captured trees): no stream of events", tree.HPE(), nil),
		quirk("StreamStops", "assumed, without a report: a stream that stays open and says nothing more, worse than SONiC #2509", nil, func(p *Personality) {
			p.Event.StopAfter = 1
		}),
		quirk("WebhookStops", "assumed, without a report: a subscription that is there and delivers nothing more", nil, func(p *Personality) {
			p.Event.StopAfter = 2
		}),
		quirk("NeverSends", "SONiC lists event types that it never sends; SONiC #2509", nil, func(p *Personality) {
			p.Event.Silent = true
		}),
		quirk("ILODropsSubscriber", "HPE iLO deletes a subscription after failures; docs-csm #2836", tree.HPE(), func(p *Personality) {
			p.Event.OnFailure, p.Event.Interval = "delete", 30*time.Second
		}),
		quirk("DellDisablesSubscriber", "Dell disables after DeliveryRetryAttempts=3; iDRAC-Redfish-Scripting #370", tree.Dell(), func(p *Personality) {
			p.Event.OnFailure, p.Event.Interval = "disable", 5*time.Second
		}),
		quirk("HPENoRetryPolicy", "HPE refuses DeliveryRetryPolicy; ironcore-dev/metal-operator redfish_hpe.go", tree.HPE(), func(p *Personality) {
			p.Event.NoRetryPolicy = true
		}),
		quirk("SupermicroPowerLog", "Supermicro (captured tree): Log1 has SystemPowerAction, MEL-0051", tree.Supermicro(), nil),
	}
}
