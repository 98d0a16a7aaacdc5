package sim

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"rackboot/bmc/sim/delay"
	"rackboot/bmc/sim/tree"
)

// events tells subscribers and streams. Its methods are safe for concurrent use.
type events struct {
	manner *manner
	tags   *tags
	tree   *tree.Tree
	layout tree.Layout
	later  *delay.Later
	sender http.RoundTripper

	mu            sync.Mutex
	subscriptions []*subscription
	streams       map[chan []byte]struct{}
	serial        int
}

func newEvents(m *manner, g *tags, t *tree.Tree, l tree.Layout, later *delay.Later, sender http.RoundTripper) *events {
	if sender == nil {
		sender = &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
			DisableKeepAlives: true,
		}
	}
	return &events{manner: m, tags: g, tree: t, layout: l, later: later, sender: sender, streams: make(map[chan []byte]struct{})}
}

func (e *events) routes(t *router) {
	t.add("GET", e.layout.Subscriptions, e.getSubscriptions)
	t.add("POST", e.layout.Subscriptions, e.postSubscription)
	t.addMembers(e.layout.Subscriptions, e.subscriptionMember)
	t.add("POST", e.layout.TestEvent, e.postTest)
	t.add("GET", e.layout.Stream, e.getStream)
}

// forget ends subscriptions and streams.
func (e *events) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.subscriptions = nil
	e.closeStreams()
}

// powerChanged tells of the power of a system.
func (e *events) powerChanged(uri, power string) {
	if e.manner.now().Event.Silent {
		return
	}
	e.send(tree.Object{
		"EventType": "StatusChange", "MessageId": "ResourceEvent.1.0.ResourceChanged",
		"Message": "the power state is " + power, "Severity": "OK",
		"OriginOfCondition": tree.Link(uri),
	})
}

// send delivers an event to streams and subscriptions.
func (e *events) send(event tree.Object) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.serial++
	id := strconv.Itoa(e.serial)
	event["EventId"], event["EventTimestamp"] = id, time.Now().UTC().Format(time.RFC3339)
	text, err := json.Marshal(tree.Object{
		"@odata.type": "#Event.v1_7_0.Event", "Id": id, "Name": "Event", "Events": []any{event},
	})
	if err != nil {
		panic("sim: event: " + err.Error())
	}
	for stream := range e.streams {
		select {
		case stream <- text:
		default: // a client that does not read loses events
		}
	}
	for _, s := range e.subscriptions {
		e.deliver(s, text)
	}
}

func (e *events) postTest(*request) *answer {
	e.send(tree.Object{"EventType": "Alert", "MessageId": "Base.1.13.TestMessage", "Severity": "OK"})
	return reply(http.StatusNoContent, nil)
}
