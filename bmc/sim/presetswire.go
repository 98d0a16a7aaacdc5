package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// wirePresets are about sessions and HTTP.
func wirePresets() []Personality {
	return []Personality{
		quirk("SessionsFull", "Dell: 503 RAC0218 with 8 sessions; check_redfish #198", tree.Dell(), func(p *Personality) {
			p.Session.Max = 8
		}),
		quirk("SessionEnds", "Lenovo, Supermicro (captured trees): sessions end after 300 s", tree.Lenovo(), func(p *Personality) {
			p.Session.Timeout = 300 * time.Second
		}),
		quirk("SessionEndsSoon", "AMI (captured tree): sessions end after 30 s", tree.AMI(), func(p *Personality) {
			p.Session.Timeout = 30 * time.Second
		}),
		quirk("SessionNoLink", "sushy-tools: no Links.Sessions in the service root", nil, func(p *Personality) {
			p.Session.NoLink = true
		}),
		quirk("PasswordsBlock", "wrong passwords block the client; iDRAC-Redfish-Scripting #295, Protocol-Validator #12", tree.Dell(), func(p *Personality) {
			p.Session.LockAfter, p.Session.LockFor = 3, 5*time.Minute
		}),
		quirk("DropsIdle", "idle connections are dropped when they are used; OpenStack sushy sends Connection: close", nil, func(p *Personality) {
			p.Wire.DropIdle = 10 * time.Second
		}),
		quirk("SlashRedirect", "HPE iLO5 before 1.40: 308 for a missing slash; hewlettpackard.github.io/ilo-rest-api-docs", tree.HPE(), func(p *Personality) {
			p.Wire.Slash = true
		}),
		quirk("H2Only", "speaks HTTP/2 only; ironcore-dev/metal-operator #759", nil, func(p *Personality) {
			p.Wire.H2Only = true
		}),
		quirk("OldTLS", "BMCs of before 2015 (documented, not captured): TLS 1.0, keys exchanged by RSA of 1,024 bits, a negative serial number", nil, func(p *Personality) {
			p.Wire.OldTLS = true
		}),
		quirk("RedirectsAway", "a redirect to another host must not get the token: gofish sends X-Auth-Token along", nil, func(p *Personality) {
			p.Wire.Redirect = "https://192.0.2.1"
		}),
		quirk("EndlessSystems", "a nextLink that loops: gofish follows it for ever", nil, func(p *Personality) {
			p.Wire.Loop = true
		}),
		quirk("WrongTypes", "Cisco: \"N/A\" where a number belongs; stmcginnis/gofish #409", tree.Cisco(), func(p *Personality) {
			p.Wire.Wrong = tree.Object{"MemorySummary": tree.Object{"TotalSystemMemoryGiB": "N/A"}, "LastResetTime": 0, "UUID": 7, "Status": "N/A"}
		}),
		quirk("HugeBody", "a body without an end: gofish reads all of it", nil, func(p *Personality) {
			p.Wire.Huge = 8 << 20
		}),
		quirk("BrokenJSON", "a body that is cut off, as of a BMC that restarts", nil, func(p *Personality) {
			p.Wire.Malformed = true
		}),
	}
}
