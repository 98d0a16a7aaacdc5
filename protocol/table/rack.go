package table

import (
	"strconv"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

func rack(o *resource.Rack, _ time.Time) []filled {
	var term Cell
	if o.Status.Term > 0 {
		term = count(o.Status.Term)
	}
	return []filled{
		name(o),
		column("AGENT", "The agent that serves it.", text(o.Status.Agent)),
		column("TERM", "Grows when its agent is replaced.", term),
		column("STANDBY", "The agent that stands by.", text(o.Status.Standby)),
		column("SOFT-TIMEOUT", "How long a soft stop may take.", text(o.Spec.SoftTimeout.String())),
		column("SETTLE", "How long a server must stay off to be proved off.", text(o.Spec.SettleWindow.String())),
		column("POLL", "How often BMCs are read.", text(o.Spec.PollInterval.String())),
		wide("DESCRIPTION", "What people call it.", text(o.Spec.Description)),
	}
}

func agent(o *resource.Agent, now time.Time) []filled {
	return []filled{
		name(o),
		column("RACK", "The rack that it is of.", text(o.Spec.RackRef.Name)),
		column("ROLE", "Whether it serves the rack or stands by.", text(o.Status.Role)),
		column("TERM", "Grows when the agent of its rack is replaced.", count(o.Spec.Term)),
		column("VERSION", "The version of its program.", text(o.Status.Version)),
		column("REPORT-AGE", "When it reported last.", since(o.Status.LastReport)),
		conditions(o.Status.Conditions, now),
		wide("INCARNATION", "Tells its disk from others.", text(o.Status.Incarnation)),
		wide("METRICS", "Where its metrics are scraped.", text(o.Status.Metrics)),
	}
}

func segment(o *resource.Segment, _ time.Time) []filled {
	var scan, prefixes []string
	if b := o.Spec.BMCs; b != nil {
		scan, prefixes = b.Scan, b.MACPrefixes
	}
	return []filled{
		name(o),
		column("RACK", "The rack that it is of.", text(o.Spec.RackRef.Name)),
		column("ROLE", "What is in it: servers that boot, or BMCs.", text(o.Spec.Role)),
		column("PREFIX", "Its addresses.", text(o.Spec.Prefix)),
		column("POOL", "The addresses that are given out.", text(o.Spec.Pool.From+"-"+o.Spec.Pool.To)),
		column("ADDRESS", "The agent's address in it.", text(o.Spec.Address)),
		wide("BASE-URL", "Where boot files are.", text(o.Spec.BaseURL)),
		wide("LEASE", "How long an address is given for.", text(o.Spec.LeaseTime.String())),
		wide("SCAN", "Where BMCs are looked for.", list(scan)),
		wide("MAC-PREFIXES", "What addresses of BMCs begin with.", list(prefixes)),
	}
}

func bmc(b *resource.BMC, now time.Time) []filled {
	s := b.Status
	address := s.Address
	if address == "" {
		address = b.Spec.Address
	}
	foundBy, vendor, model, fingerprint := resource.FoundByManifest, "", "", b.Spec.TLS.Fingerprint
	if f := s.Found; f != nil {
		foundBy, vendor, model = f.By, f.Vendor, f.Product
		if b.Pending() {
			fingerprint = f.Fingerprint // to be compared before it is accepted
		}
	}
	if len(s.Inventory) > 0 {
		vendor, model = s.Inventory[0].Vendor, s.Inventory[0].Model
	}
	return []filled{
		name(b),
		column("RACK", "The rack that it is in.", text(b.Spec.RackRef.Name)),
		column("STATE", "Whether it was accepted.", text(s.State)),
		column("ADDRESS", "Where it is.", text(address)),
		column("VENDOR", "Who has made it.", text(vendor)),
		column("MODEL", "What its maker calls it.", text(model)),
		column("SERVERS", "The servers behind it.", text(strings.Join(s.Servers, ","))),
		column("FOUND-BY", "How it was found.", text(foundBy)),
		conditions(s.Conditions, now),
		wide("MAC", "Its hardware address.", text(b.MAC())),
		wide("FINGERPRINT", "Of its certificate.", text(fingerprint)),
		wide("ACCEPTED-BY", "Who has accepted it.", text(s.AcceptedBy)),
		wide("CREDENTIALS", "Where its credentials are.", text(b.Spec.CredentialsRef)),
	}
}

func upgrade(u *resource.AgentUpgrade, now time.Time) []filled {
	racks, stands, done := "all", "", ""
	if s := u.Spec.Racks; s != nil {
		racks = s.String()
	}
	if r := u.Status.Rollout; r != nil {
		of, n := 0, 0
		for _, m := range r.Members {
			switch m.State {
			case resource.MemberSkipped:
				continue
			case resource.MemberDone:
				n++
			default:
			}
			of++
		}
		stands, done = string(r.Phase), strconv.Itoa(n)+"/"+strconv.Itoa(of)
	}
	return []filled{
		name(u),
		column("VERSION", "The release that agents are to run.", text(u.Status.Version)),
		column("ROLLOUT", "Where its roll-out stands.", text(stands)),
		column("DONE", "How many racks run the release, of how many.", text(done)),
		conditions(u.Status.Conditions, now),
		age(u),
		wide("RACKS", "The racks that it is for.", text(racks)),
		wide("PACKAGE", "The digest of the package.", text(u.Spec.Package)),
		wide("MESSAGE", "How far it is.", text(u.Status.Message)),
	}
}
