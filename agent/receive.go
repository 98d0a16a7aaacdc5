package agent

import (
	"errors"
	"fmt"
	"strings"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// Receive takes one message. It returns after what the message says is on disk.
// It is called from one goroutine.
func (a *Agent) Receive(topic string, payload []byte) {
	if topic == protocol.TopicAnnounce {
		var m protocol.Announce
		if _, err := a.open(topic, "announce", payload, &m); err == nil {
			a.announced(m)
		}
		return
	}
	agent, direction, leaf, ok := protocol.SplitTopic(topic)
	if !ok || agent != a.cfg.Agent || direction != "d" {
		a.refuse(refusalTopic, topic)
		return
	}
	var err error
	taken := true
	switch {
	case leaf == protocol.LeafSync:
		var m protocol.Sync
		if _, err := a.open(topic, leaf, payload, &m); err == nil {
			a.sync(m)
		}
		return
	case leaf == protocol.LeafAsk:
		var m protocol.Ask
		if _, err := a.open(topic, leaf, payload, &m); err == nil {
			a.asks.take(m)
		}
		return
	case leaf == protocol.LeafHold:
		var m protocol.HoldDoc
		if taken, err = a.open(topic, leaf, payload, &m); err == nil {
			err = a.applyHolds(m, leaf, wire.Digest(payload))
		}
	case strings.HasPrefix(leaf, protocol.LeafRack+"/"):
		var m protocol.RackDoc
		if taken, err = a.open(topic, leaf, payload, &m); err == nil {
			err = a.applyRack(m, leaf, wire.Digest(payload))
		}
	default:
		a.log.Debug("unknown message", "topic", topic)
	}
	if taken && err != nil {
		a.refuseDocument(leaf, err)
	}
}

// refuseDocument says why a document that was properly signed is not applied.
func (a *Agent) refuseDocument(leaf string, err error) {
	switch {
	case errors.Is(err, store.ErrAhead):
		a.ask(0) // its hub must answer first
		return
	case errors.Is(err, store.ErrOlder) && a.isNewest(leaf):
		a.log.Debug("a late copy of an older document", "doc", leaf)
		return
	case errors.Is(err, store.ErrFenced):
		a.report.raiseFor(protocol.CondTwoHubs, err.Error(), fades)
	default:
		a.trouble(protocol.CondDocumentRefused, leaf, err.Error())
	}
	a.log.Error("document refused", "doc", leaf, "err", err)
	a.acknowledge(protocol.Applied{Doc: leaf, Refused: err.Error()})
}

// acknowledge says what became of a document.
func (a *Agent) acknowledge(m protocol.Applied) {
	fence, err := a.store.Fence()
	if err != nil {
		a.log.Error("cannot read the fence", "err", err)
		return
	}
	_, m.Nonce = a.session.names()
	m.Fence = fence
	a.publish(protocol.LeafApplied, m)
}

// isNewest says whether the document in force is the newest that the hub is known
// to have. An older one that comes then was late on its way, which is no trouble; if
// the hub itself has only older ones, it is.
func (a *Agent) isNewest(leaf string) bool {
	in, err := a.store.Applied()
	return err == nil && a.session.isNewest(leaf, in.Heads[leaf])
}

func (a *Agent) applyHolds(d protocol.HoldDoc, leaf, digest string) error {
	if d.Agent != a.cfg.Agent {
		return protocol.Errorf(protocol.CodeDenied, "apply holds", "the document is for agent %s", d.Agent)
	}
	changed, released, err := a.store.ApplyHolds(a.cfg.Clock(), d, digest)
	if err != nil {
		return a.storeTrouble(err)
	}
	if err := a.rehold(changed); err != nil {
		return a.storeTrouble(err)
	}
	a.report.clear(protocol.CondStoreFailing)
	if a.session.applied(leaf, d.Head, d.IssuedAt) {
		defer a.lookAtAll() // the hub's time counts from here on
	}
	a.lookAt(changed) // before the hub is told: what is held shall be stopped
	a.trouble(protocol.CondDocumentRefused, leaf, "")
	a.acknowledge(protocol.Applied{Doc: leaf, Head: d.Head, Digest: digest, Released: released})
	return nil
}

func (a *Agent) applyRack(d protocol.RackDoc, leaf, digest string) error {
	if d.Agent != a.cfg.Agent || leaf != fmt.Sprintf("%s/%d", protocol.LeafRack, d.Shard) {
		return protocol.Errorf(protocol.CodeDenied, "apply rack", "the document is for agent %s, shard %d", d.Agent, d.Shard)
	}
	changed, _, err := a.store.ApplyRack(d, digest, checkEntry)
	if err != nil {
		return a.storeTrouble(err)
	}
	if err := a.reindex(); err != nil {
		return a.storeTrouble(err)
	}
	a.report.clear(protocol.CondStoreFailing)
	if a.session.applied(leaf, d.Head, d.IssuedAt) {
		defer a.lookAtAll() // the hub's time counts from here on
	}
	a.trouble(protocol.CondDocumentRefused, leaf, "")
	rejected, why := rejections(d)
	a.trouble(protocol.CondEntryRejected, leaf, why)
	a.acknowledge(protocol.Applied{Doc: leaf, Head: d.Head, Digest: digest, Rejected: rejected})
	a.lookAt(changed)
	return nil
}

// rejections are the entries that this agent cannot act on, also of a document
// that it has applied before: they stay wrong until a newer one comes.
func rejections(d protocol.RackDoc) (rejected []protocol.Rejection, why string) {
	var all []string
	for _, in := range d.Servers {
		if err := checkEntry(in); err != nil {
			rejected = append(rejected, protocol.Rejection{Server: in.Server, Reason: err.Error()})
			all = append(all, in.Server+": "+err.Error())
		}
	}
	return rejected, strings.Join(all, "; ")
}

// lookAt pokes the loops of servers, and starts those that are new.
func (a *Agent) lookAt(servers []string) {
	for _, name := range servers {
		a.wake(name)
	}
	a.report.pokeAll()
}

func (a *Agent) storeTrouble(err error) error {
	if protocol.CodeOf(err) == protocol.CodeUnavailable {
		a.report.raise(protocol.CondStoreFailing, err.Error())
	}
	return err
}

// checkEntry refuses a server entry that this agent cannot act on.
func checkEntry(in protocol.ServerIntent) error {
	switch {
	case in.Server == "" || in.UID == "" || in.BootMAC == "":
		return fmt.Errorf("server, uid and bootMAC are needed")
	case in.BMC.Address == "" || !strings.HasPrefix(in.BMC.CredentialsRef, "local:"):
		return fmt.Errorf("a BMC address and local credentials are needed")
	case in.Power != "" && in.Power != protocol.WantOn && in.Power != protocol.WantOff:
		return fmt.Errorf("power %q is unknown to this agent", in.Power)
	case in.Boot != nil && in.Boot.Policy.Boot != protocol.BootHdd:
		return fmt.Errorf("boot %q is unknown to this agent", in.Boot.Policy.Boot)
	case in.Boot != nil && in.Boot.ClaimUID != in.ClaimUID:
		return fmt.Errorf("the boot configuration is for another claim")
	}
	return nil
}
