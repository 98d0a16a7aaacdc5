package attemptlog

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

func attempt(id string, s resource.AttemptState) *decide.Attempt {
	return &decide.Attempt{ID: id, Stage: decide.Stage{State: s}}
}

// Which lines have the fields: those about a server with an attempt under way, whoever writes them.
func TestFields(t *testing.T) {
	const open, ended = resource.AttemptArmed, resource.AttemptFailed
	type step struct{ was, is *decide.Attempt }
	for _, tt := range []struct {
		name  string
		steps []step
		want  string // id; empty is none
	}{
		{"none", []step{{nil, nil}}, ""},
		{"begun", []step{{nil, attempt("a", open)}}, "a"},
		{"goes on", []step{{nil, attempt("a", open)}, {attempt("a", open), attempt("a", open)}}, "a"},
		{"after a restart of the agent", []step{{attempt("a", open), attempt("a", open)}}, "a"},
		{"ends with this step", []step{{attempt("a", open), attempt("a", ended)}}, "a"},
		{"has ended", []step{{attempt("a", open), attempt("a", ended)}, {attempt("a", ended), attempt("a", ended)}}, ""},
		{"is forgotten", []step{{nil, attempt("a", open)}, {attempt("a", open), nil}}, ""},
		{"another takes its place", []step{{nil, attempt("a", open)}, {attempt("a", open), attempt("b", open)}}, "b"},
		{"another is there, and has ended", []step{{nil, attempt("a", open)}, {attempt("a", open), attempt("b", ended)}}, ""},
	} {
		all := New()
		for _, s := range tt.steps {
			all.Follow("n1", s.was, s.is)
		}
		var out bytes.Buffer
		log := slog.New(all.Handler(slog.NewTextHandler(&out, nil)))
		log.With("server", "n1").With("agent", "a1").Info("of a logger", "code", 1)
		log.Info("of a line", "server", "n1")
		for line := range strings.Lines(out.String()) {
			fields := ""
			if tt.want != "" {
				fields = " attempt=" + tt.want + " trace_id=" + protocol.BootTraceID("n1", tt.want)
			}
			if !strings.HasSuffix(strings.TrimSpace(line), fields) || strings.Contains(line, "trace_id") != (tt.want != "") {
				t.Errorf("%s: %q has not the fields %q", tt.name, line, fields)
			}
		}
		out.Reset()
		log.Info("of another", "server", "n2")
		log.Info("of none")
		log.With("server", "n1").WithGroup("g").Info("in a group", "x", 1)
		if strings.Contains(out.String(), "trace_id") {
			t.Errorf("%s: %s", tt.name, &out)
		}
	}
}

// It is a handler as others are.
func TestHandler(t *testing.T) {
	var out bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		return New().Handler(slog.NewJSONHandler(&out, nil))
	}, func(t *testing.T) map[string]any {
		return line(t, out.Bytes())
	})
}

func line(t *testing.T, raw []byte) (out map[string]any) {
	t.Helper()
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
