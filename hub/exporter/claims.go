package exporter

import (
	"rackboot/hub/status"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// claimed counts claims.
type claimed struct{ bound, codes, classes, ways *metric }

func newClaims() *claimed {
	return &claimed{
		bound:   desc("hub_claims", "Claims, by whether they have a server: bound or unbound.", "state"),
		codes:   desc("hub_unbound_claims_conditions", "Claims without a server, by what they wait for.", "code"),
		classes: desc("hub_claims_provisioned", "Claims whose boot ended well, by how strong the evidence of that is.", "class"),
		ways:    desc("hub_claims_secrets", "Claims with user data, by how it goes to the server in the last boot from the network.", "way"),
	}
}

func (g *claimed) descs() []*metric {
	return []*metric{g.bound, g.codes, g.classes, g.ways}
}

func (g *claimed) collect(s *scrape) {
	bound, unbound, codes := 0, s.room.unbound(), map[resource.ConditionCode]int{}
	for _, one := range s.rows {
		if one.bound {
			bound++
		}
	}
	for _, cl := range unbound {
		for _, code := range codesOf(s.room.cfg.Claims.Conditions(cl)) {
			codes[code]++
		}
	}
	s.gauge(g.bound, float64(bound), "bound")
	s.gauge(g.bound, float64(len(unbound)), "unbound")
	for _, c := range resource.Conditions() {
		if n := codes[c.Code]; n > 0 {
			s.gauge(g.codes, float64(n), string(c.Code))
		}
	}
	g.evidence(s)
}

// unbound are the claims that have no server.
func (r *Room) unbound() []*resource.Claim {
	return store.Find(r.cfg.Store.Objects, store.ClaimsUnbound, store.Any)
}

// evidence says what it rests on that claims are provisioned, and how their user data went.
func (g *claimed) evidence(s *scrape) {
	classes, ways := map[resource.EvidenceClass]int{}, map[resource.SecretsWay]int{}
	for _, one := range s.rows {
		if b := one.boot; b != nil {
			report := one.report
			if b.Spec.Server != one.server {
				report, _ = s.room.cfg.Reports.Server(b.Spec.Server)
			}
			classes[one.proved]++
			ways[status.WayOf(b, report)]++
		}
	}
	for _, class := range resource.EvidenceOf(resource.PurposeClaim) {
		s.gauge(g.classes, float64(classes[class]), string(class))
	}
	for _, way := range resource.SecretsWays() {
		s.gauge(g.ways, float64(ways[way]), string(way))
	}
}

// eachClaim has the series of claims that wait for a server.
type eachClaim struct{ since *metric }

func newEachClaim() *eachClaim {
	return &eachClaim{desc("claim_unbound_timestamp_seconds", "Since when a claim waits for a server, by what it waits for; the code is empty before the hub has looked.", "claim", "code")}
}

func (g *eachClaim) descs() []*metric { return []*metric{g.since} }

func (g *eachClaim) collect(s *scrape) {
	for _, cl := range s.room.unbound() {
		at := cl.Metadata.CreatedAt
		if at == nil {
			continue
		}
		codes := codesOf(s.room.cfg.Claims.Conditions(cl))
		if len(codes) == 0 {
			codes = []resource.ConditionCode{""}
		}
		for _, code := range codes {
			s.at(g.since, *at, cl.Metadata.Name, string(code))
		}
	}
}
