package sim

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxSubscriptions = 20 // of bmcweb (include/subscription.hpp)
	maxQueue         = 64 // events that wait for one subscriber; newer ones are lost
	deliveryAttempts = 3  // Redfish DeliveryRetryAttempts of iDRAC and iLO
	deliveryTimeout  = 10 * time.Second
)

// subscription is a subscriber to events by webhook.
type subscription struct {
	id      string
	body    object
	url     string
	enabled bool
	queue   [][]byte
	sending bool
	sent    int
	gone    bool
}

func (b *BMC) subscriptionURI(id string) string {
	return strings.TrimRight(b.layout.subscriptions, "/") + "/" + id
}

func (b *BMC) getSubscriptions(r *request) *answer {
	body := b.tree.get(r.uri)
	if body == nil {
		body = object{"@odata.id": b.layout.subscriptions, "Name": "Subscriptions"}
	}
	var uris []string
	for _, s := range b.subscriptions {
		uris = append(uris, b.subscriptionURI(s.id))
	}
	setMembers(body, uris)
	return b.tagged(r, body)
}

func (b *BMC) postSubscription(r *request) *answer {
	rules := b.personality.Event
	body, refused := r.object()
	if refused != nil {
		return refuse(refused)
	}
	limit := rules.Max
	if limit == 0 {
		limit = maxSubscriptions
	}
	url := textAt(body, "Destination")
	switch {
	case url == "":
		return refuse(propertyError("PropertyMissing", "Destination"))
	case rules.NoRetryPolicy && body["DeliveryRetryPolicy"] != nil:
		return refuse(propertyError("PropertyNotWritableOrUnknown", "DeliveryRetryPolicy"))
	case len(b.subscriptions) >= limit:
		return refuse(&refusal{status: http.StatusServiceUnavailable, id: "Base.1.13.EventSubscriptionLimitExceeded", text: "too many subscriptions"})
	}
	b.events++
	s := &subscription{id: strconv.Itoa(b.events), body: body, url: url, enabled: true}
	b.subscriptions = append(b.subscriptions, s)
	a := reply(http.StatusCreated, b.showSubscription(s))
	a.header.Set("Location", b.subscriptionURI(s.id))
	return a
}

func (b *BMC) showSubscription(s *subscription) object {
	state := "Enabled"
	if !s.enabled {
		state = "Disabled"
	}
	return merge(clone(s.body), object{
		"@odata.id": b.subscriptionURI(s.id), "@odata.type": "#EventDestination.v1_12_0.EventDestination",
		"Id": s.id, "Name": "Subscription", "Status": object{"State": state},
	}).(object)
}

func (b *BMC) subscriptionMember(method, id string) *answer {
	i := slices.IndexFunc(b.subscriptions, func(s *subscription) bool { return s.id == id })
	switch {
	case i < 0:
		return nil
	case method == http.MethodGet:
		return reply(http.StatusOK, b.showSubscription(b.subscriptions[i]))
	case method == http.MethodDelete:
		b.drop(b.subscriptions[i])
		return reply(http.StatusNoContent, nil)
	default:
		return nil
	}
}

// drop forgets a subscription. b.mu is held.
func (b *BMC) drop(s *subscription) {
	s.gone = true
	b.subscriptions = slices.DeleteFunc(b.subscriptions, func(t *subscription) bool { return t == s })
}

// deliver queues an event for a subscriber. b.mu is held.
func (b *BMC) deliver(s *subscription, event []byte) {
	if !s.enabled || len(s.queue) >= maxQueue {
		return
	}
	s.queue = append(s.queue, event)
	if !s.sending {
		s.sending = true
		b.after(0, func() { b.drain(s) })
	}
}

// drain sends what is queued, one event after the other.
func (b *BMC) drain(s *subscription) {
	for {
		b.mu.Lock()
		if len(s.queue) == 0 || s.gone || !s.enabled {
			s.sending, s.queue = false, nil
			b.mu.Unlock()
			return
		}
		event := s.queue[0]
		s.queue = s.queue[1:]
		rules := b.personality.Event
		b.mu.Unlock()
		if rules.StopAfter > 0 && s.sent >= rules.StopAfter {
			continue
		}
		s.sent++ // by this goroutine alone
		if b.push(s.url, event, rules) {
			continue
		}
		b.mu.Lock()
		switch rules.OnFailure {
		case "delete":
			b.drop(s)
		case "disable":
			s.enabled = false
		}
		b.mu.Unlock()
	}
}

// push tries to send one event.
func (b *BMC) push(url string, event []byte, rules EventRules) bool {
	attempts := rules.Attempts
	if attempts == 0 {
		attempts = deliveryAttempts
	}
	for i := range attempts {
		if i > 0 && !pause(b.ctx, rules.Interval) {
			return false
		}
		ctx, cancel := context.WithTimeout(b.ctx, deliveryTimeout)
		ok := b.post(ctx, url, event)
		cancel()
		if ok {
			return true
		}
	}
	return false
}

func (b *BMC) post(ctx context.Context, url string, event []byte) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(event))
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := b.sender.RoundTrip(r)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode < http.StatusBadRequest
}
