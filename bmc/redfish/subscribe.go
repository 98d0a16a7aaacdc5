package redfish

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"rackboot/protocol"
)

const (
	opSubscribe = "bmc.subscribe"
	// maxSubscriptions is how many are looked at; bmcweb holds 20.
	maxSubscriptions = 64
	// maxNames bounds the event types or registries that a form names.
	maxNames = 16
)

// capMessages say that the BMC holds no more subscriptions, with whatever status.
var capMessages = []string{"EventSubscriptionLimitExceeded", "SubscriptionLimitExceeded", "CreateLimitReachedForResource"}

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

// Subscribe makes a subscription to a webhook. A POST that had no answer is not
// repeated: the next call finds what came of it.
func (d *driver) Subscribe(ctx context.Context, destination, mark string) error {
	c := d.subscribeCall(ctx)
	secret := destination[strings.LastIndexByte(destination, '/')+1:]
	d.link.hook.Store(&secret)
	service, list, err := d.subscriptions(c)
	if err != nil {
		return err
	}
	uri, others, err := d.tidy(c, list, destination, mark)
	if err != nil {
		return err
	}
	if uri == "" {
		if uri, err = d.postSubscription(c, service, list, destination, mark); err != nil {
			if a, is := errors.AsType[*answer](err); is && a.said.is(capMessages) {
				return protocol.Errorf(protocol.CodeUnavailable, opSubscribe, "BMC %s holds no more subscriptions; %d are of others: %w", d.link.base, others, err).
					WithHint("delete those that nobody uses from its EventService; polling goes on meanwhile")
			}
			return err
		}
	}
	if uri == "" { // it did not say where
		if uri, _, err = d.tidy(c, list, destination, mark); err != nil {
			return err
		}
	}
	d.mu.Lock()
	d.subscribed = uri
	d.mu.Unlock()
	there, err := d.Check(ctx)
	if err != nil {
		return err
	}
	if !there {
		return protocol.Errorf(protocol.CodeUnavailable, opSubscribe, "BMC %s took a subscription that is not there, or disabled", d.link.base).
			WithHint("power transitions are found by polling meanwhile")
	}
	return nil
}

// subscribeCall does not delay power control.
func (d *driver) subscribeCall(ctx context.Context) *call {
	c := d.call(ctx, opSubscribe)
	c.slow = true
	return c
}

// subscriptions finds the service and its list.
func (d *driver) subscriptions(c *call) (service *object, list string, err error) {
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
		return nil, "", protocol.Errorf(protocol.CodeUnsupported, opSubscribe, "BMC %s has no event subscriptions", d.link.base).
			WithHint("power transitions are found by polling; nothing has to be done")
	}
	return service, list, nil
}

// tidy returns the enabled subscription that is wanted, if it is there, and deletes
// all others of ours: those of an earlier start, whose paths nobody serves.
func (d *driver) tidy(c *call, list, destination, mark string) (found string, others int, err error) {
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
		s := subscriptionOf(uri, o.f)
		switch {
		case s.mark != mark && (place == "" || !strings.HasPrefix(s.destination, place)):
			others++
		case s.destination == destination && s.enabled && found == "":
			found = uri
		default:
			if err := drop(c, uri); err != nil {
				return "", 0, err
			}
		}
	}
	return found, others, nil
}

// postSubscription sends the least form that vendors take, and with what a refusal
// asks for besides. DeliveryRetryPolicy is never in it: HPE refuses it.
func (d *driver) postSubscription(c *call, service *object, list, destination, mark string) (string, error) {
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
				return "", d.link.unusable(opSubscribe, err.Error())
			}
			return sessionPath(resp.Header.Get("Location"), body), nil
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

// Check reads the subscription.
func (d *driver) Check(ctx context.Context) (bool, error) {
	d.mu.Lock()
	uri := d.subscribed
	d.mu.Unlock()
	if uri == "" {
		return false, nil
	}
	o, err := get[object](d.subscribeCall(ctx), uri)
	if gone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return subscriptionOf(uri, o.f).enabled, nil
}

// Unsubscribe deletes the subscription.
func (d *driver) Unsubscribe(ctx context.Context) error {
	d.mu.Lock()
	uri := d.subscribed
	d.subscribed = ""
	d.mu.Unlock()
	if uri == "" {
		return nil
	}
	return drop(d.subscribeCall(ctx), uri)
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

// gone says whether the BMC answered that there is no such resource.
func gone(err error) bool {
	status, _, refused := refusal(err)
	return refused && (status == http.StatusNotFound || status == http.StatusGone)
}
