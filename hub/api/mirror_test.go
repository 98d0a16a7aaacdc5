package api_test

import (
	"strings"
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// A viewer sees a rack's mirror, an operator flushes it; neither who only stops servers nor whose
// scope has not the rack may.
func TestMirror(t *testing.T) {
	hub := apitest.New(t)
	c := hub.Client(t)
	if _, err := c.Objects.Apply(t.Context(), storetest.Site(), false); err != nil {
		t.Fatal(err)
	}
	viewer, operator := hub.ClientOf(t, apitest.TokenOf("viewer")), hub.ClientOf(t, apitest.TokenOf("operator"))
	if _, err := viewer.Agents.Mirror(t.Context(), "r1"); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("of an agent that is away: %v", err)
	}
	hub.Mirrors.SetMirror("r1", resource.MirrorStatus{Repositories: []resource.MirrorRepository{{URL: "https://deb.example/", Objects: 2, Bytes: 7, Answers: resource.MirrorFails}}})
	if s, err := viewer.Agents.Mirror(t.Context(), "r1"); err != nil || len(s.Repositories) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := viewer.Agents.Mirror(t.Context(), "r9"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("no such rack: %v", err)
	}
	for _, token := range []string{apitest.TokenOf("viewer"), apitest.TokenOf("fencer"), apitest.TokenOf("row7")} {
		if _, err := hub.ClientOf(t, token).Agents.Flush(t.Context(), "r1", protoapi.FlushRequest{Force: true}); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("by %s: %v", token, err)
		}
	}
	if _, err := operator.Agents.Flush(t.Context(), "r1", protoapi.FlushRequest{What: strings.Repeat("/x", resource.MaxMirrorWhat)}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a long path: %v", err)
	}
	if _, err := operator.Agents.Flush(t.Context(), "r1", protoapi.FlushRequest{}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("while it does not answer: %v", err)
	}
	if f, err := operator.Agents.Flush(t.Context(), "r1", protoapi.FlushRequest{What: "/d", Force: true}); err != nil || f.Objects != 2 || f.What != "/d" {
		t.Errorf("%+v, %v", f, err)
	}
}
