package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"rackboot/protocol"
)

const (
	// maxSubscriptions is how many are looked at; bmcweb holds 20.
	maxSubscriptions = 64
	// maxNames bounds the event types or registries that a form names.
	maxNames = 16
)

// subscription is an EventDestination (DSP0268).
type subscription struct {
	uri, destination, mark string
	enabled                bool
}

func subscriptionOf(uri string, f map[string]json.RawMessage) subscription {
	state := textOf(fields(f["Status"])["State"])
	return subscription{
		uri: uri, destination: textOf(f["Destination"]), mark: textOf(f["Context"]),
		// Dell disables after DeliveryRetryAttempts; others state nothing.
		enabled: !slices.Contains([]string{"Disabled", "StandbyOffline", "UnavailableOffline"}, state),
	}
}

// subscriber has a subscription of one BMC's events.
type subscriber struct {
	link *link

	mu   sync.Mutex
	made string // path of what subscribe made; empty if there is none
}

func newSubscriber(l *link) *subscriber { return &subscriber{link: l} }

func (s *subscriber) call(ctx context.Context) *call { return newSlowCall(ctx, opSubscribe, s.link) }

// subscribe makes a subscription to a webhook. A POST that had no answer is not
// repeated: the next call finds what came of it.
func (s *subscriber) subscribe(ctx context.Context, destination, mark string) error {
	c := s.call(ctx)
	secret := destination[strings.LastIndexByte(destination, '/')+1:]
	s.link.report.hideHook(secret)
	service, list, err := s.service(c)
	if err != nil {
		return err
	}
	uri, others, err := s.tidy(c, list, destination, mark)
	if err != nil {
		return err
	}
	if uri == "" {
		if uri, err = s.post(c, service, list, destination, mark); err != nil {
			if a, is := errors.AsType[*answer](err); is && a.said.is(capMessages) {
				return protocol.Errorf(protocol.CodeUnavailable, opSubscribe, "BMC %s holds no more subscriptions; %d are of others: %w", s.link.base, others, err).
					WithHint("delete those that nobody uses from its EventService; polling goes on meanwhile")
			}
			return err
		}
	}
	if uri == "" { // it did not say where
		if uri, _, err = s.tidy(c, list, destination, mark); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.made = uri
	s.mu.Unlock()
	there, err := s.check(ctx)
	if err != nil {
		return err
	}
	if !there {
		return protocol.Errorf(protocol.CodeUnavailable, opSubscribe, "BMC %s took a subscription that is not there, or disabled", s.link.base).
			WithHint("power transitions are found by polling meanwhile")
	}
	return nil
}

// service finds the service and its list.
func (s *subscriber) service(c *call) (service *object, list string, err error) {
	root, err := get[object](c, rootURI)
	if err != nil {
		return nil, "", err
	}
	if uri := root.link("EventService"); uri != "" {
		if service, err = get[object](c, uri); err != nil {
			return nil, "", err
		}
		if list = service.link("Subscriptions"); string(service.f["ServiceEnabled"]) == "false" {
			list = ""
		}
	}
	if checkURI(list) != nil {
		return nil, "", protocol.Errorf(protocol.CodeUnsupported, opSubscribe, "BMC %s has no event subscriptions", s.link.base).
			WithHint("power transitions are found by polling; nothing has to be done")
	}
	return service, list, nil
}

// tidy returns the enabled subscription that is wanted, if it is there, and deletes
// all others of ours: those of an earlier start, whose paths nobody serves.
func (s *subscriber) tidy(c *call, list, destination, mark string) (found string, others int, err error) {
	uris, err := members(c, list)
	if err != nil {
		return "", 0, err
	}
	place := destination[:strings.LastIndexByte(destination, '/')+1]
	for _, uri := range uris[:min(len(uris), maxSubscriptions)] {
		o, err := get[object](c, uri)
		if gone(err) {
			continue
		}
		if err != nil {
			return "", 0, err
		}
		there := subscriptionOf(uri, o.f)
		switch {
		case there.mark != mark && (place == "" || !strings.HasPrefix(there.destination, place)):
			others++
		case there.destination == destination && there.enabled && found == "":
			found = uri
		default:
			if err := drop(c, uri); err != nil {
				return "", 0, err
			}
		}
	}
	return found, others, nil
}

// post sends the least form that vendors take, and with what a refusal
// asks for besides. DeliveryRetryPolicy is never in it: HPE refuses it.
func (s *subscriber) post(c *call, service *object, list, destination, mark string) (string, error) {
	form := map[string]any{"Destination": destination, "Protocol": "Redfish", "Context": mark}
	more := map[string][]string{
		"EventTypes":       textsOf[string](service.f["EventTypesForSubscription"]),
		"RegistryPrefixes": textsOf[string](service.f["RegistryPrefixes"]),
	}
	if len(more["EventTypes"]) == 0 {
		more["EventTypes"] = []string{"StatusChange", "Alert"} // DSP0268; what most have
	}
	for {
		resp, err := c.Post(list, form)
		if err == nil {
			defer resp.Body.Close()
			body, err := readBody(resp)
			if err != nil {
				return "", s.link.report.unusable(opSubscribe, err.Error())
			}
			return createdAt(resp.Header.Get("Location"), body), nil
		}
		_, said, refused := refusal(err)
		again := false
		for name, values := range more {
			if refused && said.about(name) && form[name] == nil && len(values) > 0 {
				form[name], again = values[:min(len(values), maxNames)], true
			}
		}
		if !again {
			return "", err
		}
	}
}

// check reads the subscription.
func (s *subscriber) check(ctx context.Context) (bool, error) {
	s.mu.Lock()
	uri := s.made
	s.mu.Unlock()
	if uri == "" {
		return false, nil
	}
	o, err := get[object](s.call(ctx), uri)
	if gone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return subscriptionOf(uri, o.f).enabled, nil
}

// unsubscribe deletes the subscription.
func (s *subscriber) unsubscribe(ctx context.Context) error {
	s.mu.Lock()
	uri := s.made
	s.made = ""
	s.mu.Unlock()
	if uri == "" {
		return nil
	}
	return drop(s.call(ctx), uri)
}

// drop deletes what may be gone already.
func drop(c *call, uri string) error {
	resp, err := c.Delete(uri)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// gone reports whether the BMC answered that there is no such resource.
func gone(err error) bool {
	status, _, refused := refusal(err)
	return refused && (status == http.StatusNotFound || status == http.StatusGone)
}
