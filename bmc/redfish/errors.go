package redfish

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/oldtls"
	"rackboot/protocol"
)

// errRedirect stops a redirect that would lose the method or the host.
var errRedirect = errors.New("the BMC redirects to another host or method")

// reporter makes the errors of one BMC. None of them has a secret in it.
type reporter struct {
	base        *url.URL
	account     *account
	deniedPause time.Duration                   // for people
	hook        atomic.Pointer[string]          // secret part of the address that events go to
	other       atomic.Pointer[bmc.Credentials] // the account that is written
}

func newReporter(base *url.URL, a *account, deniedPause time.Duration) *reporter {
	return &reporter{base: base, account: a, deniedPause: deniedPause}
}

// transportError classifies what http.Client returned instead of an answer.
// The URL in it is dropped: url.Error would repeat it. ctx is that of the
// request.
func (r *reporter) transportError(ctx context.Context, op, method string, err error) *protocol.Error {
	var cert *certificateError
	var old *oldtls.Error
	var verify *tls.CertificateVerificationError
	var netErr net.Error
	var opErr *net.OpError
	switch {
	case errors.As(err, &cert):
		return protocol.Errorf(protocol.CodeDenied, op, "BMC %s is not the one that was accepted: %w", r.base, cert).
			WithHint("if its certificate was renewed on purpose, compare the fingerprint on the BMC's console and accept it; nothing was sent to it")
	case errors.As(err, &old):
		return protocol.Errorf(protocol.CodeDenied, op, "BMC %s is not spoken with: %w", r.base, old).
			WithHint("update its firmware; where there is none, spec.tls.legacy: true of the BMC uses it as it is. Nothing was sent to it")
	case errors.As(err, &verify):
		return protocol.Errorf(protocol.CodeDenied, op, "BMC %s has a certificate that the given CA does not vouch for: %w", r.base, verify).
			WithHint("give the CA that signed it, or its fingerprint")
	case errors.Is(err, errRedirect):
		return r.unusable(op, errRedirect.Error())
	case errors.As(err, &opErr) && opErr.Op == "dial":
		// Nothing was sent, so the outcome is known even when the dial timed out.
		return protocol.Errorf(protocol.CodeUnavailable, op, "BMC %s cannot be reached: %w", r.base, opErr).
			WithHint("check the BMC's address, its cable and switch port, and that its web service is on")
	case ctx.Err() != nil:
		// net/http closes the connection when ctx ends, and now and then reports
		// the broken connection instead of the reason.
		return r.timeoutError(op, method, ctx.Err())
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return r.timeoutError(op, method, bare(err))
	case method != http.MethodGet:
		return protocol.Errorf(protocol.CodeTimeout, op, "the connection to BMC %s broke before its answer: %w", r.base, bare(err)).
			WithHint("%s", outcomeHint(method))
	default:
		return protocol.Errorf(protocol.CodeUnavailable, op, "the connection to BMC %s broke: %w", r.base, bare(err)).
			WithHint("try again; if it stays so, restart the BMC")
	}
}

func (r *reporter) timeoutError(op, method string, err error) *protocol.Error {
	return protocol.Errorf(protocol.CodeTimeout, op, "BMC %s did not answer in time: %w", r.base, err).
		WithHint("%s", outcomeHint(method))
}

func outcomeHint(method string) string {
	if method == http.MethodGet {
		return "the BMC may be restarting or overloaded; try again later"
	}
	return "whether the BMC did it is unknown: read the system's state before anything is sent again"
}

// bare is the innermost cause, without the URL that url.Error adds.
func bare(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// unusable is an answer that is none.
func (r *reporter) unusable(op, why string) *protocol.Error {
	e := protocol.Errorf(protocol.CodeUnavailable, op, "BMC %s gave not a usable answer: %s", r.base, why).
		WithHint("check that the address is a Redfish service; a BMC that has just started may need a minute")
	e.Err = &answer{fault: protocol.BMCFault{Text: printable(why)}}
	return e
}

// cut is an answer of which only a part came, or that is no JSON object.
func (r *reporter) cut(op, why string) *protocol.Error {
	e := protocol.Errorf(protocol.CodeUnavailable, op, "BMC %s gave not a usable answer: %s", r.base, why).
		WithHint("the agent reads again by itself; if it stays so, restart the BMC or update its firmware")
	e.Err = &answer{fault: protocol.BMCFault{Kind: protocol.FaultCut, Text: printable(why)}}
	return e
}

// deniedBefore is the answer given for the BMC while its refusal is fresh.
func (r *reporter) deniedBefore(op string, pause time.Duration) *protocol.Error {
	e := protocol.Errorf(protocol.CodeDenied, op, "BMC %s refused these credentials; they are not tried again for %s", r.base, pause.Round(time.Second)).
		WithHint("correct the credentials of this BMC; repeated attempts would lock the account or block this host")
	e.Err = &answer{status: http.StatusUnauthorized}
	return e
}

// statusError is an HTTP error answer, classified.
func (r *reporter) statusError(op string, resp *http.Response, body []byte) *protocol.Error {
	said := parseMessage(body)
	fault := r.faultOf(resp.StatusCode, said)
	v := r.classify(op, resp.StatusCode, said)
	e := protocol.Errorf(v.code, op, "BMC %s %s: %s", r.base, v.what, fault.Words()).WithHint("%s", v.hint)
	a := &answer{status: resp.StatusCode, said: said, fault: fault}
	if v.busy {
		a.cause = &bmc.Busy{RetryAfter: max(retryAfter(resp.Header, time.Now()), said.pause()), Reason: printable(r.redact(said.id))}
	}
	e.Err = a
	return e
}

// faultOf is an HTTP error answer in typed fields.
func (r *reporter) faultOf(status int, said message) protocol.BMCFault {
	return protocol.BMCFault{Kind: protocol.FaultRefused, Status: status, MessageID: printable(r.redact(said.id)), Text: printable(r.redact(said.text))}
}

// verdict is what an HTTP error answer means.
type verdict struct {
	code protocol.Code
	what string
	hint string
	busy bool
}

// classify decides by status and Redfish MessageId.
func (r *reporter) classify(op string, status int, said message) verdict {
	const busyHint = "wait and try again; BMCs refuse changes while they or the host start"
	const readHint = "read the system's state; if it is already as wanted, nothing is left to do"
	switch {
	case status == http.StatusUnauthorized:
		return verdict{
			code: protocol.CodeDenied, what: "refused the credentials",
			hint: "correct the credentials of this BMC; they are not tried again for " + r.deniedPause.String(),
		}
	case status == http.StatusForbidden && said.is([]string{mustChange}):
		return verdict{
			code: protocol.CodeDenied, what: "wants another password of the account",
			hint: "change it at the BMC's page and set the credentials again",
		}
	case status == http.StatusForbidden:
		return verdict{
			code: protocol.CodeDenied, what: "forbids this to the account",
			hint: "give the account the rights to read systems, configure boot and control power (role Operator or Administrator)",
		}
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		return verdict{code: protocol.CodeUnavailable, what: "is busy", hint: busyHint, busy: true}
	case said.is(postMessages):
		return verdict{code: protocol.CodeConflict, what: "is busy", hint: busyHint, busy: true}
	case status == http.StatusConflict, status == http.StatusPreconditionFailed,
		status == http.StatusPreconditionRequired, said.is(stateMessages):
		return verdict{code: protocol.CodeConflict, what: "refused in the present state", hint: readHint}
	case status == http.StatusMethodNotAllowed, status == http.StatusNotImplemented, said.is(unsupportedMessages):
		return verdict{
			code: protocol.CodeUnsupported, what: "cannot do this",
			hint: "see what the BMC offers under the server's capabilities, and whether newer BMC firmware offers more",
		}
	case status >= 500:
		return verdict{
			code: protocol.CodeUnavailable, what: "failed",
			hint: "read the system's state and try again later; if it stays so, restart the BMC",
		}
	case status < 400:
		return verdict{
			code: protocol.CodeUnavailable, what: "gave not a usable answer",
			hint: "check that the address is a Redfish service",
		}
	case status == http.StatusBadRequest && op == opReset:
		// The type was checked before, so what is refused is the moment: HPE and
		// others answer 400 when the system is already in the wanted state.
		return verdict{code: protocol.CodeConflict, what: "refused the reset", hint: readHint}
	default:
		return verdict{
			code: protocol.CodeInvalid, what: "refused the request",
			hint: "check the system URI of this server, and report the BMC's model and firmware if it is right",
		}
	}
}

// hideHook keeps the secret part of the address that events go to out of errors.
func (r *reporter) hideHook(secret string) { r.hook.Store(&secret) }

// hidePassword keeps the password of an account that is written out of errors.
func (r *reporter) hidePassword(c bmc.Credentials) { r.other.Store(&c) }

// redact removes the credentials from what a BMC says.
func (r *reporter) redact(s string) string {
	secrets := r.account.secrets()
	if hook := r.hook.Load(); hook != nil {
		secrets = append(secrets, *hook)
	}
	if other := r.other.Load(); other != nil {
		secrets = append(secrets, other.Password)
	}
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "[hidden]")
		}
	}
	return s
}

// retryAfter reads RFC 9110 section 10.2.3: seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}
