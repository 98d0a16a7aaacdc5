package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/attest/chip"
	"rackboot/netboot/attest/enrol"
	"rackboot/protocol"
)

// enrolWithin bounds enrolling a TPM: some make a key of RSA in ten seconds, and the report waits.
const enrolWithin = 2 * time.Minute

// enrolTPM offers the machine's TPM to the agent at the base URL of the boot, and answers its
// challenge. Errors: not_found without a TPM, and from an agent that enrols none; denied where the
// agent refuses it, with its code; else unavailable or timeout. A report goes out whatever came of it.
func (p *poster) enrolTPM(ctx context.Context, base, device string) error {
	ctx, cancel := context.WithTimeout(ctx, enrolWithin)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- p.offerTPM(ctx, base, device) }() // a TPM that hangs is not waited for
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return protocol.Errorf(protocol.CodeTimeout, "enrol TPM", "it took more than %s", enrolWithin)
	}
}

func (p *poster) offerTPM(ctx context.Context, base, device string) error {
	tpm, err := chip.Open(device)
	if err != nil {
		return err
	}
	offer, err := tpm.Offer()
	if err == nil {
		var challenge enrol.Challenge
		if challenge, err = p.challenge(ctx, base, offer); err == nil {
			var answer enrol.Answer
			if answer, err = tpm.Activate(challenge); err == nil {
				_, err = p.step(ctx, base, netboot.EnrolPath+string(netboot.EnrolAnswer), answer)
			}
		}
	}
	return errors.Join(err, tpm.Close())
}

// challenge offers, until the agent believes that this image can run.
func (p *poster) challenge(ctx context.Context, base string, o enrol.Offer) (enrol.Challenge, error) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		body, err := p.step(ctx, base, netboot.EnrolPath+string(netboot.EnrolOffer), o)
		if err == nil {
			return enrol.DecodeChallenge(body)
		}
		if protocol.CodeOf(err) != protocol.CodeUnavailable {
			return enrol.Challenge{}, err
		}
		select {
		case <-ctx.Done():
			return enrol.Challenge{}, err
		case <-time.After(pause):
		}
	}
}

// step says a step to the agent, by its path below the base URL, and returns what it answers.
func (p *poster) step(ctx context.Context, base, path string, say any) ([]byte, error) {
	const op = "prove TPM"
	u, err := url.Parse(strings.TrimRight(base, "\x00"))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the base URL cannot be used")
	}
	body, err := json.Marshal(say)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the URL cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", withoutURL(err))
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, enrol.MaxMessage))
	switch {
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	case resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNoContent:
		return said, nil
	case resp.StatusCode == http.StatusForbidden:
		var why struct {
			Refused string `json:"refused"`
		}
		_ = json.Unmarshal(said, &why) // then it has no code
		return nil, protocol.Errorf(protocol.CodeDenied, op, "the agent refuses it: %s", protocol.CleanHostText(why.Refused)).WithHint("see docs/guide/attest.md")
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed:
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "the agent takes nothing of TPMs, or the boot is over")
	}
	return nil, protocol.Errorf(protocol.CodeFromHTTP(resp.StatusCode), op, "the agent answers %s", resp.Status)
}
