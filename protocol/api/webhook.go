package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"rackboot/protocol/resource"
)

// PathWebhooks is the route of the hub's webhooks. Those of one are below its name: dead, retry and test.
const PathWebhooks = "/v1/webhooks"

// WebhookCode says why a receiver did not take something.
type WebhookCode string

// The codes.
const (
	WebhookRefused     WebhookCode = "Refused"     // for good, by 400, 405, 406, 411, 413, 415 or 422
	WebhookGone        WebhookCode = "Gone"        // for good, by 410
	WebhookDenied      WebhookCode = "Denied"      // 401, 403, 404 or 407: the address or the secret is wrong
	WebhookBusy        WebhookCode = "Busy"        // 408, 425 or 429
	WebhookFailing     WebhookCode = "Failing"     // 5xx, or a status that means nothing here
	WebhookRedirected  WebhookCode = "Redirected"  // 3xx, which is not followed
	WebhookTimeout     WebhookCode = "Timeout"     // no answer in time
	WebhookTLS         WebhookCode = "TLS"         // no connection that can be trusted
	WebhookUnreachable WebhookCode = "Unreachable" // no connection, or one that was cut
)

// Webhook is where a hub sends events, and how far it is. Counts are since the hub's start.
type Webhook struct {
	Name  string               `json:"name"`
	Host  string               `json:"host"` // scheme and host; the rest of the URL may be secret
	Codes []resource.EventCode `json:"codes,omitempty"`
	Racks []string             `json:"racks,omitempty"`
	// Position is the index of the newest event that was taken, given up or not asked for; Newest that
	// of the newest event there is.
	Position uint64 `json:"position"`
	Newest   uint64 `json:"newest"`
	// Waiting is the event that is tried now; nil for none.
	Waiting   *WebhookWaiting `json:"waiting,omitempty"`
	Delivered uint64          `json:"delivered"`
	Failures  uint64          `json:"failures"` // attempts
	Dead      int             `json:"dead"`     // letters that are kept
	Dropped   uint64          `json:"dropped"`  // letters that more dead ones took the place of, ever
	Taken     *time.Time      `json:"taken,omitempty"`
	Failure   *WebhookFailure `json:"failure,omitempty"`
}

// WebhookWaiting is an event that its receiver has not taken.
type WebhookWaiting struct {
	ID       string    `json:"id"`
	Filed    time.Time `json:"filed"`
	Attempts int       `json:"attempts"`
	Next     time.Time `json:"next"` // when it is tried again
}

// WebhookFailure is an attempt that failed.
type WebhookFailure struct {
	At     time.Time   `json:"at"`
	Code   WebhookCode `json:"code"`
	Status int         `json:"status,omitempty"` // of HTTP; 0 without an answer
}

// WebhookList are all of a hub.
type WebhookList struct {
	Items []Webhook `json:"items"`
	// Incomplete says that the hub's store has lost something, and sends nothing.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
}

// WebhookLetter is an event that was given up.
type WebhookLetter struct {
	ID       string         `json:"id"` // of the CloudEvent, as its type and subject
	Type     string         `json:"type"`
	Subject  string         `json:"subject,omitempty"`
	Filed    time.Time      `json:"filed"`
	Attempts int            `json:"attempts"`
	Failure  WebhookFailure `json:"failure"` // the last
	// Again says that somebody has asked for another attempt, which is still to come.
	Again bool `json:"again,omitempty"`
	// CloudEvent is what is sent.
	CloudEvent json.RawMessage `json:"cloudEvent"`
}

// WebhookLetters are those of one webhook, the oldest first.
type WebhookLetters struct {
	Items   []WebhookLetter `json:"items"`
	Dropped uint64          `json:"dropped"`
	// Incomplete says that something may be missing in Items, and why.
	Incomplete *Incomplete `json:"incomplete,omitempty"`
}

// WebhookRetry asks for dead letters to be sent again.
type WebhookRetry struct {
	// IDs are those of the letters; none is all.
	IDs []string `json:"ids,omitempty"`
}

// WebhookRetried says how many will be.
type WebhookRetried struct {
	Letters int `json:"letters"`
}

// WebhookTested is how an attempt ended that somebody asked for.
type WebhookTested struct {
	Taken   bool        `json:"taken"`
	Code    WebhookCode `json:"code,omitempty"`
	Status  int         `json:"status,omitempty"`
	Seconds float64     `json:"seconds"`
}

// Webhooks are where the hub sends events.
type Webhooks struct{ hub *hub }

func pathWebhook(name, what string) string {
	return PathWebhooks + "/" + url.PathEscape(name) + "/" + what
}

// List reads all.
func (w Webhooks) List(ctx context.Context) (out WebhookList, err error) {
	err = w.hub.call(ctx, http.MethodGet, PathWebhooks, nil, &out)
	return out, err
}

// Dead reads the dead letters of one.
func (w Webhooks) Dead(ctx context.Context, name string) (out WebhookLetters, err error) {
	err = w.hub.call(ctx, http.MethodGet, pathWebhook(name, "dead"), nil, &out)
	return out, err
}

// Retry has dead letters sent again. Repeating it is safe.
func (w Webhooks) Retry(ctx context.Context, name string, r WebhookRetry) (out WebhookRetried, err error) {
	err = w.hub.call(ctx, http.MethodPost, pathWebhook(name, "retry"), r, &out)
	return out, err
}

// Test sends something that is no event, once, and waits for the answer.
func (w Webhooks) Test(ctx context.Context, name string) (out WebhookTested, err error) {
	err = w.hub.call(ctx, http.MethodPost, pathWebhook(name, "test"), nil, &out)
	return out, err
}
