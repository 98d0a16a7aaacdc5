package decide

import (
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// mismatchWindow is how long after a power-on a network request is laid to it.
const mismatchWindow = consumeTimeout

// late says whether the token is of a network boot that was ended.
func late(a *Attempt, token string) bool {
	return a != nil && token != "" && a.Token == token && a.Network() && a.Stage.State == resource.AttemptFailed
}

// TakesReport says whether an installed report with the token is believed. One
// of an attempt that was ended after its file was fetched is: it says what
// happened. A repeated report of a success is accepted and changes nothing.
func TakesReport(a *Attempt, token string) bool {
	switch {
	case a == nil || token == "" || a.Token != token || !a.Network() || !a.Marks.Served && (!a.Marks.Cached || a.Stage.PowerOn.Sent.IsZero()):
		return false
	case a.Stage.State == resource.AttemptSucceeded:
		return true
	case late(a, token):
		return a.Stage.Evidence == protocol.EvidenceFetched
	}
	return accepting(a, token)
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
