package redfish

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"rackboot/protocol"
)

func TestReadStream(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	tests := []struct {
		name string
		in   string
		want []string
		err  error
	}{
		{"two events", "data: a\n\ndata: b\n\n", []string{"a", "b"}, io.EOF},
		{"lines of one event", "id: 1\nevent: x\ndata: a\ndata:b\n\n", []string{"a\nb"}, io.EOF},
		{"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}, io.EOF},
		{"CR", "data: a\r\rdata: b\r\r", []string{"a", "b"}, io.EOF},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"a"}, io.EOF},
		{"keep-alive", ": hello\n\n: again\n\n", nil, io.EOF},
		{"empty data", "data\n\n", []string{""}, io.EOF},
		{"not ended", "data: a\n", nil, io.EOF},
		{"unknown fields", "retry: 5\nfoo\ndata: a\n\n", []string{"a"}, io.EOF},
		{"a line without an end", "data: " + long, nil, errLongLine},
		{"data without an end", strings.Repeat("data: "+long[:maxLine-10]+"\n", 5), nil, errLongEvent},
	}
	for _, tt := range tests {
		for what, from := range map[string]io.Reader{"whole": strings.NewReader(tt.in), "by byte": iotest.OneByteReader(strings.NewReader(tt.in))} {
			var got []string
			active := 0
			err := readStream(from, func() { active++ }, func(b []byte) { got = append(got, string(b)) })
			if !errors.Is(err, tt.err) || !slices.Equal(got, tt.want) {
				t.Errorf("%s, %s: %q, %v", tt.name, what, got, err)
			}
			if len(got) > 0 && active == 0 {
				t.Errorf("%s: no activity", tt.name)
			}
		}
	}
}

func TestParseEvents(t *testing.T) {
	got, err := ParseEvents([]byte(`{"@odata.type":"#Event.v1_4_0.Event","Events":[
		{"MessageId":"Event.1.0.SystemPowerAction","EventType":"Alert","OriginOfCondition":{"@odata.id":"/redfish/v1/Systems/1"},"EventTimestamp":"2026-11-20T10:00:00Z"},
		"odd",{"MessageId":7,"OriginOfCondition":"/redfish/v1/Systems/2"}]}`))
	want := []Event{
		{MessageID: "Event.1.0.SystemPowerAction", Kind: "Alert", Origin: "/redfish/v1/Systems/1", Time: "2026-11-20T10:00:00Z"},
		{Origin: "/redfish/v1/Systems/2"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	many := `{"Events":[` + strings.Repeat(`{},`, 1000) + `{}]}`
	if got, err := ParseEvents([]byte(many)); err != nil || len(got) != maxEvents {
		t.Errorf("%d events, %v", len(got), err)
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"Events":[]}`, `{"Events":"x"}`, `{"Events":[{}],"x":"` + strings.Repeat("y", maxEventBytes) + `"}`} {
		if _, err := ParseEvents([]byte(bad)); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(`{"Events":[{"MessageId":"x","OriginOfCondition":{"@odata.id":"/x"}}]}`))
	f.Add([]byte(`{"Events":[{"MessageId":"\u0000\u202e"},null,[]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		events, err := ParseEvents(b)
		if (err == nil) != (events != nil) && len(rawsOf(fields(b)["Events"])) == 0 {
			t.Errorf("%d events and %v", len(events), err)
		}
		for _, e := range events {
			for _, r := range e.MessageID + e.Kind + e.Origin + e.Time {
				if r < ' ' {
					t.Errorf("control character in %+v", e)
				}
			}
		}
	})
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("id: 1\r\ndata: {\"Events\":[{}]}\r\n\r\n"))
	f.Add([]byte("\xef\xbb\xbfdata\rdata: x\n\n:\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		collect := func(from io.Reader) (out []string, err error) {
			err = readStream(from, func() {}, func(d []byte) { out = append(out, string(d)) })
			return out, err
		}
		whole, err := collect(strings.NewReader(string(b)))
		parts, err2 := collect(iotest.HalfReader(strings.NewReader(string(b))))
		if !slices.Equal(whole, parts) || !errors.Is(err2, err) {
			t.Errorf("%q %v, in parts %q %v", whole, err, parts, err2)
		}
		size := 0
		for _, d := range whole {
			size += len(d)
		}
		if size > len(b) {
			t.Errorf("%d bytes out of %d", size, len(b))
		}
	})
}
