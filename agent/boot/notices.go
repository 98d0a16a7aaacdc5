package boot

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"rackboot/netboot"
	"rackboot/protocol/resource"
)

const (
	// noticesWaiting bounds the notices that were not recorded yet; what comes on top is
	// counted and lost.
	noticesWaiting = 64
	// noticed is how long a condition stays after the last notice: DHCP servers are
	// looked for and told again within an hour.
	noticed = 70 * time.Minute
	// Of one kind, eventBurst events may be recorded at once, then one every eventEvery.
	eventBurst = 20
	eventEvery = time.Minute
)

// notices takes what boot servers saw, and records it beside them.
type notices struct {
	room  *Room
	queue chan netboot.Notice
	// events bound what is recorded for the hub: whoever is on a segment causes notices.
	events map[netboot.NoticeKind]*rate.Limiter
}

func newNotices(r *Room) *notices {
	n := &notices{room: r, queue: make(chan netboot.Notice, noticesWaiting), events: map[netboot.NoticeKind]*rate.Limiter{}}
	for _, k := range netboot.NoticeKinds() {
		n.events[k] = rate.NewLimiter(rate.Every(eventEvery), eventBurst)
	}
	return n
}

// take takes a notice. It does not block. Who may divert boots counts at once, also where
// somebody fills the queue with other notices.
func (n *notices) take(m netboot.Notice) {
	n.room.diverters.note(m, n.room.cfg.Clock())
	select {
	case n.queue <- m:
	default:
		n.room.met.dropped.Inc()
	}
}

func (n *notices) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-n.queue:
			n.record(m)
		}
	}
}

// record turns a notice into an event and a condition of the agent.
func (n *notices) record(m netboot.Notice) {
	code, event, text := told(m)
	if event == "" {
		return
	}
	if m.Kind == netboot.NoticeNoAddress {
		n.room.starved(m)
	} else {
		n.room.cfg.Reports.RaiseFor(code, text, noticed)
	}
	if !n.events[m.Kind].AllowN(n.room.cfg.Clock(), 1) {
		n.room.met.summed.Inc() // the condition says it
		return
	}
	if err := n.room.cfg.Store.Events.Append(resource.Event{At: m.At, Server: m.Server, Code: event, Message: text}); err != nil {
		n.room.cfg.Logger.Error("cannot record what a boot server saw", "err", err)
		return
	}
	n.room.cfg.Reports.Poke()
}

// told says what a notice means to people.
func told(m netboot.Notice) (resource.ConditionCode, resource.EventCode, string) {
	switch m.Kind {
	case netboot.NoticeForeignServer:
		return resource.CondForeignDHCP, resource.EventForeignDHCP, fmt.Sprintf("%s on segment %s", m.Address, m.Segment)
	case netboot.NoticeBootLoop:
		return resource.CondBootLoop, resource.EventBootLoop, fmt.Sprintf("%s of server %s on segment %s", m.MAC, m.Server, m.Segment)
	case netboot.NoticeConflict:
		return resource.CondAddressConflict, resource.EventAddressConflict, fmt.Sprintf("%s uses %s on segment %s, which it was not given", m.MAC, m.Address, m.Segment)
	case netboot.NoticeDeclined:
		return resource.CondAddressConflict, resource.EventAddressConflict, fmt.Sprintf("%s found its reserved %s on segment %s in use", m.MAC, m.Address, m.Segment)
	case netboot.NoticeNoRouter:
		return resource.CondNoRouter, resource.EventNoRouter, fmt.Sprintf("no router of segment %s advertises a route to the agent's IPv6 address", m.Segment)
	case netboot.NoticeNoAddress:
		return resource.CondPoolExhausted, resource.EventNoAddress, fmt.Sprintf("%s got no address on segment %s", m.MAC, m.Segment)
	case netboot.NoticeSpoofed:
		whose := "leased to another"
		switch {
		case m.Own:
			whose = "the agent's own"
		case m.Server != "":
			whose = "of server " + m.Server
		}
		return resource.CondAddressSpoofed, resource.EventAddressSpoofed, fmt.Sprintf("%s uses %s on segment %s, which is %s", m.MAC, m.Address, m.Segment, whose)
	case netboot.NoticeUnmanaged:
		return resource.CondRouterFlags, resource.EventRouterFlags, fmt.Sprintf("router %s on segment %s does not send clients to DHCPv6", m.Address, m.Segment)
	}
	return "", "", ""
}
