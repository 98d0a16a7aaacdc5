package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"rackboot/protocol"
)

// result is what became of a question.
type result string

const (
	resultOK     result = "ok"
	resultFailed result = "failed" // the agent says why
	resultNone   result = "none"   // no answer in time
)

func results() []result { return []result{resultOK, resultFailed, resultNone} }

// answer gives an agent's answer to whoever waits for it.
func (c *Control) answer(_ context.Context, a *protocol.Agent, m protocol.Answer) error {
	name := a.Metadata.Name
	if !c.Terms.Active(a) || c.fence.SteppedDown() || !c.counts(name, "", m.Nonce) {
		return nil
	}
	q := c.asks.take(m.ID, name)
	if q == nil {
		c.metrics.late.Inc()
		return nil
	}
	what := resultOK
	if m.Code != "" {
		what = resultFailed
	}
	c.metrics.answers.WithLabelValues(string(q.Kind), string(what)).Inc()
	q.done(m)
	return nil
}

// maxSystems bounds what is behind one BMC.
const maxSystems = 64

// inventories reads the body of an answer.
func inventories(body []byte) ([]protocol.Inventory, error) {
	list, err := listOf[protocol.Inventory](body)
	if err != nil {
		return nil, err
	}
	var seen []string
	for i := range list {
		uri := list[i].SystemURI
		if !strings.HasPrefix(uri, "/redfish/") || len(uri) > 512 || slices.Contains(seen, uri) {
			return nil, protocol.Errorf(protocol.CodeInternal, "read answer", "system %d of the answer has no path of its own", i)
		}
		seen = append(seen, uri)
	}
	return list, nil
}

// probes reads the body of an answer.
func probes(body []byte) ([]protocol.Probe, error) { return listOf[protocol.Probe](body) }

func listOf[T any](body []byte) ([]T, error) {
	const op = "read answer"
	var list []T
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&list); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "it cannot be read: %w", err)
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // Token returns it bare
		return nil, protocol.Errorf(protocol.CodeInternal, op, "there is more after the list")
	}
	switch {
	case len(list) == 0:
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "there is no host behind the BMC").
			WithHint("look whether the BMC lists its system: rackctl bmc probe BMC")
	case len(list) > maxSystems:
		return nil, protocol.Errorf(protocol.CodeInternal, op, "it has %d systems, more than %d", len(list), maxSystems)
	}
	return list, nil
}

// answerError is the error that an answer carries; nil if it carries none.
func answerError(op string, m protocol.Answer) error {
	if m.Code == "" {
		return nil
	}
	code := m.Code
	if !slices.Contains(protocol.Codes(), code) {
		code = protocol.CodeInternal // of a later version
	}
	return &protocol.Error{Code: code, Op: op, Message: m.Message, Hint: m.Hint}
}

// failure is what an answer says went wrong, with what to do.
func failure(err error) string {
	if hint := protocol.HintOf(err); hint != "" {
		return fmt.Sprintf("%s (%s)", err, hint)
	}
	return err.Error()
}
