package redfish

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

const maxMessage = 300

// message is what a BMC says with an HTTP error (DSP0266, error responses): the
// first extended message, which is the specific one, else the general one.
type message struct {
	id   string // as sent, such as iLO.2.37.UnableToModifyDuringSystemPOST
	text string
	keys []string // last parts of all MessageIds, such as UnableToModifyDuringSystemPOST
}

// postMessages are refused changes that pass with POST.
func postMessages() []string {
	return []string{
		"UnableToModifyDuringSystemPOST", // HPE iLO 4 to 6
	}
}

// stateMessages are refusals for the present state that come with status 400.
func stateMessages() []string {
	return []string{
		"InvalidOperationForSystemState", // HPE: already on or off, or just after a change
		"PSU501",                         // Dell: already in the state
		"ActionParameterValueConflict",   // iDRAC 10: On within a minute of off
		"ResourceInUse",
	}
}

// unsupportedMessages are refusals that no retry changes.
func unsupportedMessages() []string {
	return []string{
		"ActionNotSupported",
		"ActionParameterNotSupported",
		"ActionParameterUnknown",
		"ActionParameterValueNotInList",
		"PropertyNotWritable",
		"PropertyNotWritableOrUnknown", // HPE
		"PropertyUnknown",
		"PropertyValueNotInList",
		"UnsupportedOperation", // HPE iLO 6
	}
}

func (m message) is(keys []string) bool {
	return slices.ContainsFunc(m.keys, func(k string) bool { return slices.Contains(keys, k) })
}

// parseMessage reads leniently: any part may be missing or of another type.
func parseMessage(body []byte) message {
	e := fields(fields(body)["error"])
	m := message{id: textOf(e["code"]), text: textOf(e["message"])}
	infos := rawsOf(e["@Message.ExtendedInfo"])
	if infos == nil { // one object instead of an array
		infos = []json.RawMessage{e["@Message.ExtendedInfo"]}
	}
	m.keys = append(m.keys, lastPart(m.id))
	for i, info := range infos {
		f := fields(info)
		id := textOf(f["MessageId"])
		m.keys = append(m.keys, lastPart(id))
		if i == 0 && id != "" {
			m.id, m.text = id, textOf(f["Message"])
		}
	}
	return m
}

func lastPart(id string) string { return id[strings.LastIndexByte(id, '.')+1:] }

// printable makes a BMC's text safe for one line of a log.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > maxMessage {
		s = string(r[:maxMessage]) + "…"
	}
	return s
}
