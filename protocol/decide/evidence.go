package decide

import (
	"strings"

	"rackboot/protocol/resource"
)

// mismatchWindow is how long after a power-on a network request is laid to it.
const mismatchWindow = consumeTimeout

// late says whether the token is of a network boot that was ended.
func late(a *Attempt, token string) bool {
	return a.knows(token) && a.Network() && a.Stage.State == resource.AttemptFailed
}

// maxImageReason bounds an image's message in events and in the reason of an attempt, in
// bytes.
const maxImageReason = 256

// said is the message of an image's report, on one line.
func said(e Event) string {
	words := strings.Join(strings.Fields(e.Message), " ")
	if len(words) > maxImageReason {
		words = strings.ToValidUTF8(words[:maxImageReason], "")
	}
	return words
}
