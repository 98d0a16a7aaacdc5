package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Receive takes one message. It returns after what the message says is on disk.
// It is called from one goroutine.
func (a *Agent) Receive(topic string, payload []byte) {
	if topic == message.TopicAnnounce {
		var m message.Announce
		if _, err := a.open(topic, "announce", payload, &m); err == nil {
			a.announced(m)
		}
		return
	}
	agent, direction, leaf, ok := message.SplitTopic(topic)
	if !ok || agent != a.cfg.Agent || direction != "d" {
		a.refuse(refusalTopic, topic)
		return
	}
	if leaf != message.LeafSync && a.Over() {
		return
	}
	var err error
	taken := true
	switch {
	case leaf == message.LeafSync:
		var m message.Sync
		if _, err := a.open(topic, leaf, payload, &m); err == nil {
			a.sync(m)
		}
		return
	case leaf == message.LeafAsk:
		var m message.Ask
		if _, err := a.open(topic, leaf, payload, &m); err == nil {
			a.asks.take(m)
		}
		return
	case leaf == message.LeafHold:
		var m message.HoldDoc
		if taken, err = a.open(topic, leaf, payload, &m); err == nil {
			err = a.applyHolds(m, leaf, wire.Digest(payload))
		}
	case strings.HasPrefix(leaf, message.LeafRack+"/"):
		var m message.RackDoc
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
		a.reports.RaiseFor(resource.CondTwoHubs, err.Error(), fades)
	default:
		a.trouble(resource.CondDocumentRefused, leaf, err.Error())
	}
	a.log.Error("document refused", "doc", leaf, "err", err)
	a.acknowledge(message.Applied{Doc: leaf, Refused: err.Error()})
}

// acknowledge says what became of a document.
func (a *Agent) acknowledge(m message.Applied) {
	fence, err := a.store.Fence()
	if err != nil {
		a.log.Error("cannot read the fence", "err", err)
		return
	}
	_, m.Nonce = a.session.names()
	m.Fence = fence
	a.publish(message.LeafApplied, m)
}

// isNewest says whether the document in force is the newest that the hub is known
// to have. An older one that comes then was late on its way, which is no trouble; if
// the hub itself has only older ones, it is.
func (a *Agent) isNewest(leaf string) bool {
	in, err := a.store.Applied()
	return err == nil && a.session.isNewest(leaf, in.Heads[leaf])
}

func (a *Agent) applyHolds(d message.HoldDoc, leaf, digest string) error {
	if d.Agent != a.cfg.Agent {
		return protocol.Errorf(protocol.CodeDenied, "apply holds", "the document is for agent %s", d.Agent)
	}
	approved, err := a.takeApprovals(d, leaf)
	if err != nil {
		return a.storeTrouble(err)
	}
	if len(approved) > 0 {
		defer a.lookAt(approved)
	}
	changed, released, err := a.store.ApplyHolds(a.cfg.Clock(), d, digest)
	if err != nil {
		return a.storeTrouble(err)
	}
	if err := a.rehold(changed); err != nil {
		return a.storeTrouble(err)
	}
	a.reports.Clear(resource.CondStoreFailing)
	if a.session.applied(leaf, d.Head, d.IssuedAt) {
		defer a.loops.LookAtAll() // the hub's time counts from here on
	}
	a.lookAt(changed) // before the hub is told: what is held shall be stopped
	a.trouble(resource.CondDocumentRefused, leaf, "")
	a.acknowledge(message.Applied{Doc: leaf, Head: d.Head, Digest: digest, Released: released})
	return nil
}

func (a *Agent) applyRack(d message.RackDoc, leaf, digest string) error {
	if d.Agent != a.cfg.Agent || leaf != fmt.Sprintf("%s/%d", message.LeafRack, d.Shard) {
		return protocol.Errorf(protocol.CodeDenied, "apply rack", "the document is for agent %s, shard %d", d.Agent, d.Shard)
	}
	changed, _, err := a.store.ApplyRack(d, digest, a.admit)
	if err != nil {
		return a.storeTrouble(err)
	}
	begun, err := a.trial.offered()
	if err = errors.Join(err, a.reindex()); err != nil {
		return a.storeTrouble(err)
	}
	a.reports.Clear(resource.CondStoreFailing)
	if a.session.applied(leaf, d.Head, d.IssuedAt) {
		defer a.loops.LookAtAll() // the hub's time counts from here on
	}
	a.trouble(resource.CondDocumentRefused, leaf, "")
	rejected, wrong, sealed := a.rejections(d)
	a.trouble(resource.CondEntryRejected, leaf, wrong)
	a.trouble(resource.CondCredentialsSealed, leaf, sealed)
	a.acknowledge(message.Applied{Doc: leaf, Head: d.Head, Digest: digest, Rejected: rejected})
	a.lookAt(changed)
	if begun {
		// Only the answer to a question of after the change shows that the hub is still
		// reached, and what is on its way is none.
		a.session.renew(a.random(), nil)
		a.greeter.reply()
	}
	return nil
}

// rejections are the entries that this agent cannot act on, also of a document
// that it has applied before: they stay wrong until a newer one comes. wrong and sealed
// say why: the entry itself, or its credentials.
func (a *Agent) rejections(d message.RackDoc) (rejected []message.Rejection, wrong, sealed string) {
	var entries, credentials []string
	for _, in := range d.Servers {
		opened, err := a.admit(in)
		if opened != nil {
			a.met.opened.WithLabelValues(openDone).Inc()
		}
		if err == nil {
			continue
		}
		rejected = append(rejected, message.Rejection{Server: in.Server, Reason: err.Error()})
		if _, is := errors.AsType[*unreadable](err); is {
			a.met.opened.WithLabelValues(openRefused).Inc()
			credentials = append(credentials, in.Server+": "+err.Error())
		} else {
			entries = append(entries, in.Server+": "+err.Error())
		}
	}
	return rejected, strings.Join(entries, "; "), strings.Join(credentials, "; ")
}

// lookAt pokes the loops of servers, and starts those that are new.
func (a *Agent) lookAt(servers []string) {
	for _, name := range servers {
		a.loops.wake(name)
	}
	a.reports.PokeAll()
}

func (a *Agent) storeTrouble(err error) error {
	if protocol.CodeOf(err) == protocol.CodeUnavailable {
		a.reports.Raise(resource.CondStoreFailing, err.Error())
	}
	return err
}

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
	case in.Boot != nil && (in.Boot.Owner.UID != in.Owner.UID || in.Boot.Owner.Kind.Or() != in.Owner.Kind.Or()):
		return fmt.Errorf("the boot configuration is for another owner")
	case in.Boot != nil:
		return in.Boot.CheckFallback()
	}
	return nil
}
