package sim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// powerChanged tells subscribers and the power log. bmc.mu is held.
func (b *BMC) powerChanged(h *Host) {
	h.logPower()
	if b.personality.Event.Silent {
		return
	}
	b.send(object{
		"EventType": "StatusChange", "MessageId": "ResourceEvent.1.0.ResourceChanged",
		"Message": "the power state is " + string(h.power), "Severity": "OK",
		"OriginOfCondition": link(h.place.uri),
	})
}

// SendEvent delivers an event with a MessageId and the URI that it is about, as
// hardware would cause it.
func (b *BMC) SendEvent(messageID, origin string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.send(object{"EventType": "Alert", "MessageId": messageID, "Severity": "OK", "OriginOfCondition": link(origin)})
}

// send delivers an event to streams and subscriptions. b.mu is held.
func (b *BMC) send(event object) {
	b.events++
	id := strconv.Itoa(b.events)
	event["EventId"], event["EventTimestamp"] = id, time.Now().UTC().Format(time.RFC3339)
	text, err := json.Marshal(object{
		"@odata.type": "#Event.v1_7_0.Event", "Id": id, "Name": "Event", "Events": []any{event},
	})
	if err != nil {
		panic("sim: event: " + err.Error())
	}
	for stream := range b.streams {
		select {
		case stream <- text:
		default: // a client that does not read loses events
		}
	}
	for _, s := range b.subscriptions {
		b.deliver(s, text)
	}
}

func (b *BMC) postTestEvent(*request) *answer {
	b.send(object{"EventType": "Alert", "MessageId": "Base.1.13.TestMessage", "Severity": "OK"})
	return reply(http.StatusNoContent, nil)
}

// logPower writes Supermicro's power entries. bmc.mu is held.
func (h *Host) logPower() {
	if h.place.powerLog == "" {
		return
	}
	if len(h.powerLog) == maxHistory {
		h.powerLog = h.powerLog[1:]
	}
	h.powerLog = append(h.powerLog, object{
		"@odata.type": "#LogEntry.v1_4_0.LogEntry", "EntryType": "Event", "Name": "Log entry",
		"MessageId": "Event.1.0.SystemPowerAction", "Message": "MEL-0051 System power: " + string(h.power),
		"Created": time.Now().UTC().Format(time.RFC3339),
	})
}

func (h *Host) getPowerLog(r *request) *answer {
	body := h.bmc.tree.get(r.uri)
	if body == nil {
		return missing()
	}
	members, _ := body["Members"].([]any)
	for i, entry := range h.powerLog {
		e := clone(entry).(object)
		e["@odata.id"], e["Id"] = h.place.powerLog+"/P"+strconv.Itoa(i+1), "P"+strconv.Itoa(i+1)
		members = append(members, e)
	}
	body["Members"], body["Members@odata.count"] = members, len(members)
	return h.bmc.tagged(r, body)
}
