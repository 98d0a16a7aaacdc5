package boot

import (
	"encoding/json"
	"testing"

	"rackboot/agent/tpm"
	"rackboot/netboot"
	"rackboot/netboot/attest"
	"rackboot/netboot/attest/enrol"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// heardTPMs note who offered, and refuse answers.
type heardTPMs struct {
	offered []string
	doubts  []attest.Code
	voided  []string    // servers
	proved  attest.Code // empty is that all is attested
}

func (h *heardTPMs) Offer(server, token string, _ enrol.Offer) (enrol.Challenge, tpm.Refusal, error) {
	h.offered = append(h.offered, server+" "+token)
	return enrol.Challenge{Blob: []byte("b"), Seed: []byte("s")}, tpm.NoRefusal, nil
}

func (*heardTPMs) Answer(string, string, enrol.Answer) (tpm.Refusal, error) {
	return tpm.WrongAnswer, nil
}

func (h *heardTPMs) Ask(server, token string) (attest.Ask, error) {
	h.offered = append(h.offered, server+" "+token)
	return attest.AskFor([]byte("nonce")), nil
}

func (*heardTPMs) Prove(string, string, attest.Evidence, attest.Expectation) (attest.Code, error) {
	return "", nil
}

func (h *heardTPMs) Doubt(_, _ string, why attest.Code) { h.doubts = append(h.doubts, why) }

func (h *heardTPMs) Void(server string) { h.voided = append(h.voided, server) }

func (h *heardTPMs) Proved(string, string) (bool, attest.Code) { return h.proved == "", h.proved }

// A step comes to the room of TPMs only from who has the token that went through the BMC, by HTTPS,
// in a discovery whose files were sent.
func TestEnrol(t *testing.T) {
	r, _ := tracing(t, statetest.NewMemory())
	heard := &heardTPMs{}
	r.cfg.TPMs = heard
	at := attempts(r, "one")
	at.Private, at.Order.Purpose, at.Stage.State = "private-token", resource.PurposeDiscovery, resource.AttemptFetched
	r.index.byToken[at.Private] = "n1"
	sealed, open := &segment{room: r, leased: newLeased(), sealed: true}, &segment{room: r, leased: newLeased()}
	for _, row := range []struct {
		name    string
		by      *segment
		token   string
		step    netboot.EnrolStep
		body    string
		refused string
		code    protocol.Code
	}{
		{"a stranger", sealed, "guessed", netboot.EnrolOffer, "{}", "", protocol.CodeNotFound},
		{"a neighbour with the token of the segment", sealed, "secret-token", netboot.EnrolOffer, "{}", "segment", ""},
		{"the token in clear", open, "private-token", netboot.EnrolOffer, "{}", "openly", ""},
		{"what is no offer", sealed, "private-token", netboot.EnrolOffer, "{", "", protocol.CodeInvalid},
		{"what is no answer", sealed, "private-token", netboot.EnrolAnswer, "[]", "", protocol.CodeInvalid},
		{"a wrong answer", sealed, "private-token", netboot.EnrolAnswer, "{}", "wrong-answer", ""},
	} {
		_, refused, err := row.by.Enrol(row.token, row.step, []byte(row.body))
		if refused != row.refused || (err == nil) != (row.code == "") || err != nil && protocol.CodeOf(err) != row.code {
			t.Errorf("%s: %q, %v", row.name, refused, err)
		}
	}
	if len(heard.offered) != 0 {
		t.Fatalf("heard of %v", heard.offered)
	}
	answer, refused, err := sealed.Enrol("private-token", netboot.EnrolOffer, []byte("{}"))
	var ch enrol.Challenge
	if err != nil || refused != "" || json.Unmarshal(answer, &ch) != nil || string(ch.Blob) != "b" || len(heard.offered) != 1 || heard.offered[0] != "n1 private-token" {
		t.Errorf("%s, %q, %v, %v", answer, refused, err, heard.offered)
	}
}
