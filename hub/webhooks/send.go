package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"rackboot/protocol/api"
	"rackboot/state"
)

// maxAnswer bounds what is read of an answer, in bytes: its status is all that counts, and the connection
// can be used again.
const maxAnswer = 64 << 10

// outcome is how an attempt ended.
type outcome struct {
	verdict verdict
	code    api.WebhookCode // empty where it was taken
	status  int             // 0 without an answer
	after   time.Duration   // what the receiver asks to wait
}

// sender sends to one receiver.
type sender struct {
	hook  Hook
	http  *http.Client
	clock state.Clock
	agent string // User-Agent
}

func newSender(h Hook, clock state.Clock, version string) *sender {
	return &sender{hook: h, clock: clock, agent: "rackboot-hub/" + version, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: h.TLS, ForceAttemptHTTP2: true,
			MaxConnsPerHost: 2, MaxIdleConnsPerHost: 1, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: maxAnswer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // what is signed is for one address
	}}
}

// send makes one attempt, within the time of the hook. Nothing of an error is kept but its code: errors of
// net/http have the URL in them.
func (s *sender) send(ctx context.Context, id string, body []byte) outcome {
	ctx, cancel := context.WithTimeout(ctx, s.hook.Wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.hook.URL, bytes.NewReader(body))
	if err != nil {
		return outcome{verdict: again, code: api.WebhookUnreachable}
	}
	now := s.clock()
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("User-Agent", s.agent)
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("webhook-signature", sign(s.hook.Secrets, id, now, body))
	answer, err := s.http.Do(req)
	if err != nil {
		return outcome{verdict: again, code: codeOf(ctx, err)}
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // the status is there already
	o := outcome{status: answer.StatusCode, after: retryAfter(answer.Header, now)}
	o.verdict, o.code = judge(answer.StatusCode)
	return o
}

// codeOf says why there is no answer.
func codeOf(ctx context.Context, err error) api.WebhookCode {
	var timeout net.Error
	switch {
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return api.WebhookTimeout
	case isTLS(err):
		return api.WebhookTLS
	}
	return api.WebhookUnreachable
}

func isTLS(err error) bool {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	return unverified || alert || noTLS
}
