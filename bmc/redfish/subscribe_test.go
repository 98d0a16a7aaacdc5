package redfish_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

const (
	mark       = "rackboot:rack-a-1"
	secretPart = "0123456789abcdef0123456789abcdef"
)

// hook is a webhook that counts the events that it was sent, and fails if told to.
type hook struct {
	events atomic.Int64
	fails  atomic.Bool
	url    string // up to the secret part
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		events, err := redfish.ParseEvents(body)
		if err != nil || r.URL.Path != "/e/"+secretPart {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		if h.fails.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		h.events.Add(int64(len(events)))
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(s.Close)
	h.url = s.URL + "/e/"
	return h
}

func (r *rig) request(t *testing.T, method, path, body string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(deadline(t), method, r.bmc.Address()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth(username, password)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// subscriptions is how many the BMC holds.
func (r *rig) subscriptions(t *testing.T) (list string, n int) {
	t.Helper()
	var service struct {
		Subscriptions struct {
			ID string `json:"@odata.id"`
		}
	}
	r.request(t, http.MethodGet, "/redfish/v1/EventService", "", &service)
	var members struct{ Members []any }
	r.request(t, http.MethodGet, service.Subscriptions.ID, "", &members)
	return service.Subscriptions.ID, len(members.Members)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for ctx := deadline(t); !ok(); time.Sleep(time.Millisecond) { // between looks
		if ctx.Err() != nil {
			t.Fatalf("%s did not come", what)
		}
	}
}

func (r *rig) subscribe(t *testing.T, h *hook) bmc.Subscriber {
	t.Helper()
	sub := r.driver.(bmc.Subscriber)
	if err := sub.Subscribe(deadline(t), h.url+secretPart, mark); err != nil {
		t.Fatal(err)
	}
	if _, n := r.subscriptions(t); n != 1 || !there(t, sub) {
		t.Fatalf("%d subscriptions", n)
	}
	return sub
}

func there(t *testing.T, sub bmc.Subscriber) bool {
	t.Helper()
	ok, err := sub.Check(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// Simulated BMCs are subscribed to, once, and again when they gave the subscription up.
func TestPresetsSubscribe(t *testing.T) {
	tests := []struct {
		name  string
		sent  int64 // of three events; a BMC that goes silent looks as before
		drops bool  // the subscription after a delivery that failed
	}{
		{"NoStream", 3, false},
		{"HPENoRetryPolicy", 3, false},
		{"NeverSends", 3, false}, // but of power
		{"WebhookStops", 2, false},
		{"ILODropsSubscriber", 3, true},
		{"DellDisablesSubscriber", 3, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, ok := sim.Preset(tt.name)
			if !ok {
				t.Fatal("no preset")
			}
			p.Event.Interval = time.Millisecond
			r, h := newRig(t, p), newHook(t)
			sub := r.subscribe(t, h)
			r.subscribe(t, h)
			if tt.name == "NeverSends" {
				r.reset(t, bmc.ResetOn)
				r.await(t, protocol.PowerOn)
			}
			for range 3 {
				r.bmc.SendEvent("Event.1.0.Test", "/redfish/v1/Systems/1")
			}
			eventually(t, "the events", func() bool { return h.events.Load() >= tt.sent })
			h.fails.Store(true)
			r.bmc.SendEvent("Event.1.0.Test", "/redfish/v1/Systems/1")
			if tt.drops {
				eventually(t, "the end of the subscription", func() bool { return !there(t, sub) })
				h.fails.Store(false)
				r.subscribe(t, h)
				r.bmc.SendEvent("Event.1.0.Test", "/redfish/v1/Systems/1")
				eventually(t, "an event", func() bool { return h.events.Load() == tt.sent+1 })
			} else if !there(t, sub) || h.events.Load() != tt.sent {
				t.Errorf("%d events, want %d", h.events.Load(), tt.sent)
			}
			for range 2 {
				if err := sub.Unsubscribe(deadline(t)); err != nil || there(t, sub) {
					t.Errorf("still there, %v", err)
				}
			}
			if _, n := r.subscriptions(t); n != 0 {
				t.Errorf("%d subscriptions are left", n)
			}
		})
	}
}

// What an earlier start left is deleted; what others made is not.
func TestStaleSubscriptions(t *testing.T) {
	t.Parallel()
	r, h := newRig(t, sim.Plain()), newHook(t)
	list, _ := r.subscriptions(t)
	for _, body := range []string{
		`{"Destination":"http://192.0.2.1/e/old","Protocol":"Redfish","Context":"` + mark + `"}`, // another address of ours
		`{"Destination":"` + h.url + `old","Protocol":"Redfish"}`,                                // a BMC that keeps no Context
		`{"Destination":"http://192.0.2.2/x","Protocol":"Redfish","Context":"` + mark + `2"}`,
		`{"Destination":"http://192.0.2.3/x","Protocol":"Redfish"}`,
	} {
		r.request(t, http.MethodPost, list, body, new(any))
	}
	sub := r.driver.(bmc.Subscriber)
	if there(t, sub) {
		t.Error("there before it was made")
	}
	if err := sub.Subscribe(deadline(t), h.url+secretPart, mark); err != nil {
		t.Fatal(err)
	}
	if _, n := r.subscriptions(t); n != 3 {
		t.Errorf("%d subscriptions, want ours and two of others", n)
	}
}

// What is sent, and what becomes of refusals.
func TestSubscriptionForm(t *testing.T) {
	missing := func(name string) string {
		return `{"error":{"code":"Base.1.8.GeneralError","@Message.ExtendedInfo":[{"MessageId":"Base.1.8.CreateFailedMissingReqProperties","MessageArgs":["` + name + `"]}]}}`
	}
	tests := []struct {
		name    string
		service string                                  // but for its end
		refuse  func(form map[string]any) (int, string) // 0 takes it
		fields  int                                     // of the last form
		posts   int
		want    protocol.Code
		text    string
	}{
		{"the least", `{}`, func(map[string]any) (int, string) { return 0, "" }, 3, 1, "", ""},
		{"EventTypes and RegistryPrefixes are demanded", `{"RegistryPrefixes":["Base"],}`, func(f map[string]any) (int, string) {
			for _, name := range []string{"EventTypes", "RegistryPrefixes"} {
				if f[name] == nil {
					return 400, missing(name)
				}
			}
			return 0, ""
		}, 5, 3, "", ""},
		{"demanded for ever", `{"EventTypesForSubscription":["Alert"],}`, func(map[string]any) (int, string) { return 400, missing("EventTypes") }, 4, 2, protocol.CodeInvalid, "CreateFailedMissingReqProperties"},
		{"no more", `{}`, func(map[string]any) (int, string) {
			return 503, `{"error":{"code":"Base.1.13.EventSubscriptionLimitExceeded"}}`
		}, 3, 1, protocol.CodeUnavailable, "holds no more subscriptions; 0 are of others"},
		{"the address in the refusal", `{}`, func(f map[string]any) (int, string) {
			return 400, fmt.Sprintf(`{"error":{"code":"Base.1.8.PropertyValueFormatError","message":"not %s"}}`, f["Destination"])
		}, 3, 1, protocol.CodeInvalid, "/e/[hidden]"},
		{"forbidden", `{}`, func(map[string]any) (int, string) { return 403, "" }, 3, 1, protocol.CodeDenied, "forbids"},
		{"taken and not there", `{}`, func(map[string]any) (int, string) { return 201, "" }, 3, 1, protocol.CodeUnavailable, "not there"},
		{"switched off", `{"ServiceEnabled":false,}`, nil, 0, 0, protocol.CodeUnsupported, "no event subscriptions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var form map[string]any
			posts, made := 0, false
			d := open(t, redfish.Config{}, serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/redfish/v1/":
					fmt.Fprint(w, `{"EventService":{"@odata.id":"/events"}}`)
				case r.URL.Path == "/events":
					fmt.Fprint(w, strings.Replace(tt.service, "}", `"Subscriptions":{"@odata.id":"/list"}}`, 1))
				case r.URL.Path == "/list" && r.Method == http.MethodPost:
					form, posts = nil, posts+1
					if err := json.NewDecoder(r.Body).Decode(&form); err != nil {
						t.Error(err)
					}
					status, body := tt.refuse(form)
					if made = status == 0; !made {
						w.WriteHeader(status)
					}
					fmt.Fprint(w, body) // without a Location
				case r.URL.Path == "/list" && made:
					fmt.Fprint(w, `{"Members":[{"@odata.id":"/list/1"}]}`)
				case r.URL.Path == "/list":
					fmt.Fprint(w, `{"Members":[]}`)
				case r.URL.Path == "/list/1" && made:
					_ = json.NewEncoder(w).Encode(form)
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			}))
			err := d.(bmc.Subscriber).Subscribe(deadline(t), "http://192.0.2.1/e/"+secretPart, mark)
			if tt.want == "" && err != nil || tt.want != "" && (protocol.CodeOf(err) != tt.want || !strings.Contains(err.Error(), tt.text) || protocol.HintOf(err) == "") {
				t.Errorf("%v, hint %q", err, protocol.HintOf(err))
			}
			if err != nil && strings.Contains(err.Error(), secretPart) {
				t.Errorf("the secret is told: %v", err)
			}
			if len(form) != tt.fields || posts != tt.posts || form["DeliveryRetryPolicy"] != nil {
				t.Errorf("%d posts, the last %v", posts, form)
			}
		})
	}
}
