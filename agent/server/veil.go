package server

import (
	"errors"
	"strings"

	"rackboot/bmc"
	"rackboot/protocol"
)

// veiled is an error without a token, which BMCs quote with the URL that they were given.
// What the caller asks of an error stays.
func veiled(op string, err error, token string) error {
	if err == nil || !strings.Contains(err.Error()+protocol.HintOf(err), token) {
		return err
	}
	hide := func(s string) string { return strings.ReplaceAll(s, token, "…") }
	text := protocol.Errorf(protocol.CodeOf(err), op, "%s", hide(err.Error())).WithHint("%s", hide(protocol.HintOf(err)))
	if busy, ok := errors.AsType[*bmc.Busy](err); ok {
		return errors.Join(text, &bmc.Busy{RetryAfter: busy.RetryAfter, Reason: hide(busy.Reason)})
	}
	return text
}
