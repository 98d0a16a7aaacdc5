package sim

import "rackboot/bmc/sim/tree"

// etagPresets are about ETags and If-Match.
func etagPresets() []Personality {
	return []Personality{
		quirk("ETagGigabyte", "Gigabyte: If-Match is refused in every form; ansible #6434", nil, func(p *Personality) {
			p.ETag.Match = MatchNever
		}),
		quirk("ETagLenovo", "Lenovo XCC: 412 with a valid If-Match at times; ansible #11261", tree.Lenovo(), func(p *Personality) {
			p.ETag.Refuse = 1
		}),
		quirk("ETagGzip", "weak tags for who accepts gzip, that are then 412; OpenStack sushy asks for identity", nil, func(p *Personality) {
			p.ETag.Form = "gzip"
		}),
		quirk("ETagEmpty", "the tag is empty, and If-Match with it 412; OpenStack sushy", nil, func(p *Personality) {
			p.ETag.Form = "empty"
		}),
		quirk("ETagDoubled", "tags with two pairs of quotes; ansible #3268", nil, func(p *Personality) {
			p.ETag.Form, p.ETag.Match = "doubled", MatchExact
		}),
		quirk("ETagStrongOnly", "the second step of sushy's ladder: the strong form of a weak tag", nil, func(p *Personality) {
			p.ETag.Match = MatchStrong
		}),
		quirk("ETagNoneOnly", "the third step of sushy's ladder: no If-Match", nil, func(p *Personality) {
			p.ETag.Match = MatchNone
		}),
		quirk("ETagChanging", "assumed, without a report: another tag at every read; it would explain ansible #11261", nil, func(p *Personality) {
			p.ETag.Form = "changing"
		}),
		quirk("ETagAbsent", "Dell R750 iDRAC9 6.00.30 (captured tree): systems have no tag", tree.Dell(), func(p *Personality) {
			p.ETag.Form = "absent"
		}),
		quirk("RegistriesNeedGzip", "HPE Gen10+: registries are 406 for identity; OpenStack sushy", tree.HPE(), func(p *Personality) {
			p.Wire.NoPlain = true
		}),
	}
}
