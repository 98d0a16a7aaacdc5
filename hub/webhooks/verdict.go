package webhooks

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"rackboot/protocol/api"
)

// verdict is what becomes of what was sent.
type verdict string

const (
	taken   verdict = "taken"
	again   verdict = "again"
	refused verdict = "refused" // it is a dead letter at once
)

// judge says what an answer means. The first row that fits decides.
//
//	status                            | verdict | code
//	200-299                           | taken   | none
//	300-399                           | again   | Redirected
//	410                               | refused | Gone
//	400, 405, 406, 411, 413, 415, 422 | refused | Refused
//	401, 403, 404, 407                | again   | Denied
//	408, 425, 429                     | again   | Busy
//	500-599                           | again   | Failing
//	another                           | again   | Failing
func judge(status int) (verdict, api.WebhookCode) {
	switch status {
	case http.StatusGone:
		return refused, api.WebhookGone
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusLengthRequired,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return refused, api.WebhookRefused
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusProxyAuthRequired:
		return again, api.WebhookDenied // whoever mends address or secret wants what waited
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return again, api.WebhookBusy
	}
	switch status / 100 {
	case 2:
		return taken, ""
	case 3:
		return again, api.WebhookRedirected
	}
	return again, api.WebhookFailing
}

// The pauses between attempts.
const (
	firstPause  = time.Second
	longPause   = 5 * time.Minute
	askedPause  = time.Hour // the longest that a receiver may ask for
	maxDoubling = 16
)

// pauseAfter is how long is waited after so many failures in a row, from 1: it doubles up to longPause, of
// which a half is left to chance, so that many hubs do not ask at once.
func pauseAfter(failures int, first time.Duration, chance func(time.Duration) time.Duration) time.Duration {
	d := min(first<<min(failures-1, maxDoubling), longPause)
	return d/2 + chance(d/2+1)
}

func random(below time.Duration) time.Duration { return rand.N(below) }

// retryAfter is what a receiver asks for (RFC 9110, 10.2.3), bounded; 0 for nothing.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	var d time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), askedPause)
}
