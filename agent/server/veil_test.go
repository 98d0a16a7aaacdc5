package server

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// A BMC that quotes the URL does not bring the token into an error; what the caller asks
// of the error stays (P12).
func TestVeiled(t *testing.T) {
	const token = "0123456789abcdef"
	quoted := protocol.Errorf(protocol.CodeInvalid, "bmc.insert_media", "the value http://10.8.0.1/b/%s/boot.iso is wrong", token)
	if err := veiled("test", quoted, token); strings.Contains(fmt.Sprintf("%v %+v", err, err), token) || protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), "boot.iso is wrong") {
		t.Errorf("%v", err)
	}
	hinted := protocol.Errorf(protocol.CodeUnsupported, "bmc.set_boot", "no").WithHint("clear http://10.8.0.1/b/%s/", token)
	if err := veiled("test", hinted, token); protocol.HintOf(err) != "clear http://10.8.0.1/b/…/" || protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("%v, hint %q", err, protocol.HintOf(err))
	}
	busy := fmt.Errorf("%s: %w", token, &bmc.Busy{RetryAfter: time.Minute, Reason: "fetching " + token})
	err := veiled("test", busy, token)
	if is, d := pause(err); !is || d != time.Minute || strings.Contains(err.Error(), token) {
		t.Errorf("%v, pause %v", err, d)
	}
	plain := errors.New("no drive")
	if got := veiled("test", plain, token); !errors.Is(got, plain) || veiled("test", nil, token) != nil {
		t.Errorf("%v", got)
	}
}
