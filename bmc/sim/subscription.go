package sim

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"rackboot/bmc/sim/delay"
	"rackboot/bmc/sim/tree"
)

const (
	maxSubscriptions = 20 // of bmcweb (include/subscription.hpp)
	maxQueue         = 64 // events that wait for one subscriber; newer ones are lost
	deliveryTimeout  = 10 * time.Second
)

// subscription is a subscriber to events by webhook.
type subscription struct {
	id      string
	body    tree.Object
	url     string
	enabled bool
	queue   [][]byte
	sending bool
	sent    int
	gone    bool
}

func (e *events) subscriptionURI(id string) string {
	return strings.TrimRight(e.layout.Subscriptions, "/") + "/" + id
}

func (e *events) getSubscriptions(r *request) *answer {
	body := e.tree.Get(r.uri)
	if body == nil {
		body = tree.Object{"@odata.id": e.layout.Subscriptions, "Name": "Subscriptions"}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var uris []string
	for _, s := range e.subscriptions {
		uris = append(uris, e.subscriptionURI(s.id))
	}
	tree.SetMembers(body, uris)
	return e.tags.tagged(r, body)
}

func (e *events) postSubscription(r *request) *answer {
	rules := e.manner.now().Event
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	limit := rules.Max
	if limit == 0 {
		limit = maxSubscriptions
	}
	url := tree.TextAt(body, "Destination")
	switch {
	case url == "":
		return refuse(propertyError("PropertyMissing", "Destination"))
	case rules.NoRetryPolicy && body["DeliveryRetryPolicy"] != nil:
		return refuse(propertyError("PropertyNotWritableOrUnknown", "DeliveryRetryPolicy"))
	case len(e.subscriptions) >= limit:
		return refuse(&refusal{status: http.StatusServiceUnavailable, id: "Base.1.13.EventSubscriptionLimitExceeded", text: "too many subscriptions"})
	}
	e.serial++
	s := &subscription{id: strconv.Itoa(e.serial), body: body, url: url, enabled: true}
	e.subscriptions = append(e.subscriptions, s)
	a := reply(http.StatusCreated, e.showSubscription(s))
	a.header.Set("Location", e.subscriptionURI(s.id))
	return a
}

func (e *events) showSubscription(s *subscription) tree.Object {
	state := "Enabled"
	if !s.enabled {
		state = "Disabled"
	}
	return tree.Merge(tree.Clone(s.body), tree.Object{
		"@odata.id": e.subscriptionURI(s.id), "@odata.type": "#EventDestination.v1_12_0.EventDestination",
		"Id": s.id, "Name": "Subscription", "Status": tree.Object{"State": state},
	}).(tree.Object)
}

func (e *events) subscriptionMember(_ *request, method, id string) *answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.subscriptions, func(s *subscription) bool { return s.id == id })
	switch {
	case i < 0:
		return nil
	case method == http.MethodGet:
		return reply(http.StatusOK, e.showSubscription(e.subscriptions[i]))
	case method == http.MethodDelete:
		e.drop(e.subscriptions[i])
		return reply(http.StatusNoContent, nil)
	default:
		return nil
	}
}

// drop forgets a subscription. e.mu is held.
func (e *events) drop(s *subscription) {
	s.gone = true
	e.subscriptions = slices.DeleteFunc(e.subscriptions, func(t *subscription) bool { return t == s })
}

// deliver queues an event for a subscriber. e.mu is held.
func (e *events) deliver(s *subscription, event []byte) {
	if !s.enabled || len(s.queue) >= maxQueue {
		return
	}
	s.queue = append(s.queue, event)
	if !s.sending {
		s.sending = true
		e.later.After(0, func() { e.drain(s) })
	}
}

// drain sends what is queued, one event after the other.
func (e *events) drain(s *subscription) {
	for {
		e.mu.Lock()
		if len(s.queue) == 0 || s.gone || !s.enabled {
			s.sending, s.queue = false, nil
			e.mu.Unlock()
			return
		}
		event := s.queue[0]
		s.queue = s.queue[1:]
		rules := e.manner.now().Event
		e.mu.Unlock()
		if rules.StopAfter > 0 && s.sent >= rules.StopAfter {
			continue
		}
		s.sent++ // by this goroutine alone
		if e.push(s.url, event, rules) {
			continue
		}
		e.mu.Lock()
		switch rules.OnFailure {
		case "delete":
			e.drop(s)
		case "disable":
			s.enabled = false
		}
		e.mu.Unlock()
	}
}

// push tries to send one event.
func (e *events) push(url string, event []byte, rules EventRules) bool {
	attempts := rules.Attempts
	if attempts == 0 {
		attempts = tree.DeliveryAttempts
	}
	for i := range attempts {
		if i > 0 && !delay.Pause(e.later.Context(), rules.Interval) {
			return false
		}
		ctx, cancel := context.WithTimeout(e.later.Context(), deliveryTimeout)
		ok := e.post(ctx, url, event)
		cancel()
		if ok {
			return true
		}
	}
	return false
}

func (e *events) post(ctx context.Context, url string, event []byte) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(event))
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := e.sender.RoundTrip(r)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode < http.StatusBadRequest
}
