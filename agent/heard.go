package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rackboot/agent/link"
	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// heard puts in force what the hub says. It implements link.Heard.
type heard struct{ agent *Agent }

// Holds implements link.Heard.
func (h heard) Holds(d message.HoldDoc, leaf, digest string) error {
	a := h.agent
	if d.Agent != a.cfg.Agent {
		return protocol.Errorf(protocol.CodeDenied, "apply holds", "the document is for agent %s", d.Agent)
	}
	approved, err := a.takeApprovals(d, leaf)
	if err != nil && !a.store.guard.On() { // else the holds are guarded all the same
		return a.reports.StoreTrouble(err)
	}
	if len(approved) > 0 {
		defer a.lookAt(approved)
	}
	stood := a.store.Servers.StandsBy()
	changed, released, err := a.store.Documents.ApplyHolds(a.cfg.Clock(), d, digest)
	if err != nil {
		a.loops.WakeAll(a.store.guard.Newcomers())
		return a.reports.StoreTrouble(err)
	}
	if a.turned(stood) {
		defer a.lookAround()
		err = a.index.read()
	} else {
		err = a.index.hold(changed)
	}
	if err != nil {
		return a.reports.StoreTrouble(err)
	}
	a.store.recorded()
	if a.link.InForce(leaf, d.Head, d.IssuedAt) {
		defer a.loops.LookAtAll() // the hub's time counts from here on
	}
	a.lookAt(changed) // before the hub is told: what is held shall be stopped
	a.link.Trouble(resource.CondDocumentRefused, leaf, "")
	a.link.Acknowledge(message.Applied{Doc: leaf, Head: d.Head, Digest: digest, Released: released})
	return nil
}

// Rack implements link.Heard.
func (h heard) Rack(d message.RackDoc, leaf, digest string) error {
	a := h.agent
	if d.Agent != a.cfg.Agent || leaf != fmt.Sprintf("%s/%d", message.LeafRack, d.Shard) {
		return protocol.Errorf(protocol.CodeDenied, "apply rack", "the document is for agent %s, shard %d", d.Agent, d.Shard)
	}
	stood := a.store.Servers.StandsBy()
	changed, _, err := a.store.Documents.ApplyRack(d, digest, h.admit)
	if err != nil {
		return a.reports.StoreTrouble(err)
	}
	if a.turned(stood) {
		defer a.lookAround()
	}
	begun, err := a.trial.Offered()
	if err = errors.Join(err, a.index.read()); err != nil {
		return a.reports.StoreTrouble(err)
	}
	a.store.recorded()
	if a.link.InForce(leaf, d.Head, d.IssuedAt) {
		defer a.loops.LookAtAll() // the hub's time counts from here on
	}
	a.link.Trouble(resource.CondDocumentRefused, leaf, "")
	rejected, wrong, sealed := h.rejections(d)
	a.link.Trouble(resource.CondEntryRejected, leaf, wrong)
	a.link.Trouble(resource.CondCredentialsSealed, leaf, sealed)
	a.link.Acknowledge(message.Applied{Doc: leaf, Head: d.Head, Digest: digest, Rejected: rejected})
	a.lookAt(changed)
	a.upgrade.Look()
	if begun {
		a.link.Restart()
	}
	return nil
}

// twin is the other agent of the rack; false while there is none, or this one belongs to the rack no more.
func (a *Agent) twin() (message.TwinIntent, bool) {
	rack, belongs := a.store.Servers.Twin()
	if !belongs || rack == nil {
		return message.TwinIntent{}, false
	}
	return *rack, true
}

// turned says whether the agent stands by and did not, or does no more.
func (a *Agent) turned(stood bool) bool {
	stands := a.store.Servers.StandsBy()
	if stands != stood {
		a.log.Warn("the part of this agent in its rack is another one", "stands_by", stands)
	}
	return stands != stood
}

// lookAround has all of the rack looked at and reported anew.
func (a *Agent) lookAround() {
	a.loops.LookAtAll()
	a.reports.PokeAll()
}

// rejections are the entries that this agent cannot act on, also of a document
// that it has applied before: they stay wrong until a newer one comes. wrong and sealed
// say why: the entry itself, or its credentials.
func (h heard) rejections(d message.RackDoc) (rejected []message.Rejection, wrong, sealed string) {
	var entries, credentials []string
	for _, in := range d.Servers {
		opened, err := h.admit(in)
		if opened != nil {
			h.agent.met.opened.WithLabelValues(openDone).Inc()
		}
		if err == nil {
			continue
		}
		rejected = append(rejected, message.Rejection{Server: in.Server, Reason: err.Error()})
		if _, is := errors.AsType[*unreadable](err); is {
			h.agent.met.opened.WithLabelValues(openRefused).Inc()
			credentials = append(credentials, in.Server+": "+err.Error())
		} else {
			entries = append(entries, in.Server+": "+err.Error())
		}
	}
	return rejected, strings.Join(entries, "; "), strings.Join(credentials, "; ")
}

// Ask implements link.Heard.
func (h heard) Ask(m message.Ask) { h.agent.asks.Take(m) }

// Contact implements link.Heard.
func (h heard) Contact() { h.agent.trial.Heard() }

// Changed implements link.Heard and trial.Index.
func (h heard) Changed() error { return h.agent.index.read() }

// LookAtAll implements link.Heard.
func (h heard) LookAtAll() { h.agent.loops.LookAtAll() }

// News implements link.Heard.
func (h heard) News(trust string) {
	if h.agent.cfg.News != nil {
		h.agent.cfg.News(trust)
	}
}

var _ link.Heard = heard{}

// checkEntry refuses a server entry that this agent cannot act on.
func checkEntry(in message.ServerIntent) error {
	switch {
	case in.Server == "" || in.UID == "" || in.BootMAC == "":
		return fmt.Errorf("server, uid and bootMAC are needed")
	case in.BMC.Address == "" || resource.LocalOf(in.BMC.CredentialsRef) == "" && resource.SecretOf(in.BMC.CredentialsRef) == "":
		return fmt.Errorf("a BMC address and credentials, local:NAME or secret:NAME, are needed")
	case in.Power != "" && in.Power != resource.WantOn && in.Power != resource.WantOff:
		return fmt.Errorf("power %q is unknown to this agent", in.Power)
	case !slices.Contains(resource.Purposes(), in.Owner.Kind.Or()):
		return fmt.Errorf("purpose %q is unknown to this agent", in.Owner.Kind)
	case in.Boot != nil && !slices.Contains(resource.Boots(), in.Boot.BootPolicy.Boot):
		return fmt.Errorf("boot %q is unknown to this agent", in.Boot.BootPolicy.Boot)
	case in.Boot != nil && in.Boot.BootPolicy.OSReboot != "" && !slices.Contains(resource.OSReboots(), in.Boot.BootPolicy.OSReboot):
		return fmt.Errorf("osReboot %q is unknown to this agent", in.Boot.BootPolicy.OSReboot)
	case in.Boot != nil && in.Boot.BootPolicy.Network != "" && !in.Boot.BootPolicy.Network.Any():
		return fmt.Errorf("network %q is unknown to this agent", in.Boot.BootPolicy.Network)
	case in.Boot != nil && (in.Boot.Owner.UID != in.Owner.UID || in.Boot.Owner.Kind.Or() != in.Owner.Kind.Or()):
		return fmt.Errorf("the boot configuration is for another owner")
	case in.Boot != nil:
		return in.Boot.CheckFallback()
	}
	return nil
}

// admit checks a server entry, and opens the credentials that it brings.
func (h heard) admit(in message.ServerIntent) (*store.Credentials, error) {
	if err := checkEntry(in); err != nil {
		return nil, err
	}
	c, err := h.agent.accounts.Seal(in.BMC)
	if err != nil {
		return nil, &unreadable{err}
	}
	return c, nil
}

// The results of rackboot_agent_secrets_opened_total.
const (
	openDone    = "opened"
	openRefused = "refused"
)

// unreadable is in the chain of an error when an entry is refused because of its
// credentials.
type unreadable struct{ error }

func (u *unreadable) Unwrap() error { return u.error }
