package redfish

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const maxMessage = 300

// message is what a BMC says with an HTTP error (DSP0266, error responses): the
// first extended message, which is the specific one, else the general one.
type message struct {
	id    string // as sent, such as iLO.2.37.UnableToModifyDuringSystemPOST
	text  string
	keys  []string // last parts of all MessageIds, such as UnableToModifyDuringSystemPOST
	uris  []string // paths in MessageArgs
	names []string // properties that the messages are about: RelatedProperties and MessageArgs
}

func (m message) is(keys []string) bool {
	return slices.ContainsFunc(m.keys, func(k string) bool { return slices.Contains(keys, k) })
}

// about reports whether a message names the property.
func (m message) about(property string) bool { return slices.Contains(m.names, property) }

// pause is a time to wait that the text states (Dell SYS518: "retry in 30
// seconds"); 0 if it states none.
func (m message) pause() time.Duration {
	words := strings.Fields(strings.ToLower(m.text))
	for i, w := range words {
		if i > 0 && strings.HasPrefix(w, "second") {
			if n, err := strconv.ParseUint(words[i-1], 10, 10); err == nil {
				return time.Duration(n) * time.Second
			}
		}
	}
	return 0
}

// parseMessage reads leniently: any part may be missing or of another type.
func parseMessage(body []byte) message {
	all := fields(body)
	if all == nil {
		return message{text: plain(body)}
	}
	e := fields(all["error"])
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
		for _, p := range textsOf[string](f["RelatedProperties"]) {
			m.names = append(m.names, p[strings.LastIndexByte(p, '/')+1:])
		}
		for _, p := range textsOf[string](f["MessageArgs"]) {
			m.names = append(m.names, p[strings.LastIndexAny(p, "/.")+1:])
			if isURI(p) {
				m.uris = append(m.uris, p)
			}
		}
	}
	return m
}

// plain is a body that is text; empty for a page of HTML and what is no text.
func plain(body []byte) string {
	text := strings.TrimSpace(string(body[:min(len(body), 4*maxMessage)]))
	if text == "" || text[0] == '<' || text[0] == '{' || text[0] == '[' || strings.ContainsRune(text, 0) {
		return ""
	}
	return text
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

// changeAt is the account whose password must be changed first; empty if the message
// is about something else.
func (m message) changeAt() string {
	if !m.is([]string{mustChange}) {
		return ""
	}
	for _, uri := range m.uris {
		if checkURI(uri) == nil {
			return uri
		}
	}
	return ""
}
