package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/local"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// demoAgent says always the same, with texts that a BMC might have made up.
type demoAgent struct{ placed resource.ActiveHold }

var demoStart = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

func demoHold() local.Hold {
	return local.Hold{
		ActiveHold: resource.ActiveHold{ID: "01k9a", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "local:ann", HoldTerms: resource.HoldTerms{Key: "smoke", Mode: resource.StopHard, Reason: "row \x1b[31m7"}}},
		Word:       resource.HoldFenced, State: resource.StateFenced, EnforcedAt: demoStart, Local: true,
		Receipt: &resource.Receipt{StoppedSince: demoStart}, ReadAt: new(demoStart), Stale: true,
	}
}

func (*demoAgent) Status() (local.Status, error) {
	return local.Status{
		Agent: "rack-a-1", Rack: "rack-a", Version: "v9", Synced: true, Hub: local.Hub{Met: true, LastWord: new(demoStart)},
		Applied: map[string]protocol.Head{"hold": {Epoch: 1, Version: 7}}, Backlog: local.Backlog{Waiting: 3, Head: 9}, Servers: 1, Holds: 1, Stale: 1, OldestRead: protocol.Duration(62 * time.Second),
		Conditions: local.Describe([]resource.ConditionState{{Code: resource.CondHubUnverified}}),
		Guard:      &local.Guard{Since: demoStart, Cause: "no space", Frozen: true},
	}, nil
}

func (*demoAgent) Servers() []local.Summary {
	return []local.Summary{{Phase: resource.PhaseReserved, Stale: true, ServerReport: resource.ServerReport{
		Server: "n1", Observation: protocol.Observation{Power: protocol.PowerOff}, Holds: []resource.HoldReport{{ID: "01k9a"}, {ID: "x", Word: resource.HoldReleased}},
		Conditions: []resource.ConditionState{{Code: resource.CondHeld}},
	}}}
}

func (d *demoAgent) Server(name string) (local.Server, error) {
	if name != "n1" {
		return local.Server{}, protocol.Errorf(protocol.CodeNotFound, "show a server", "no server %q", name).WithHint("look at the list")
	}
	return local.Server{
		Name: "n1", Phase: resource.PhaseReserved, Intent: &message.ServerIntent{Owner: resource.Owner{Name: "c1", UID: "u"}}, Report: d.Servers()[0].ServerReport,
		Holds: []local.Hold{demoHold()}, Guard: &local.Guarded{Since: demoStart, RanAt: new(demoStart), Forced: new(demoStart), Times: 2, Unread: protocol.Duration(62 * time.Second)},
	}, nil
}

func (*demoAgent) Holds() ([]local.Hold, error) {
	return []local.Hold{demoHold(), {
		ActiveHold: resource.ActiveHold{ID: "01k9b", HoldSpec: resource.HoldSpec{Server: "n1"}}, Word: resource.HoldReleased,
		Released: &resource.Release{By: "local:ann", Reason: "hub is lost"},
	}}, nil
}

func (*demoAgent) Trace(server string, serial int) (resource.Trace, error) {
	return resource.Trace{
		Server: server, Serial: max(serial, 1), Intended: protocol.TargetPxe, Observed: protocol.TargetUefiHTTP, Number: 2, Began: demoStart, State: resource.AttemptFailed, Since: demoStart.Add(time.Minute),
		Code: resource.AttemptWrongMethod, Reason: "it was \x1b[31mso", Rows: []resource.TraceRow{{Seq: 1, At: demoStart.Add(1500 * time.Millisecond), Source: protocol.TraceDHCP, What: "DISCOVER", Detail: "row \x1b[31m7"}},
	}, nil
}

func (*demoAgent) Mirror() (resource.MirrorStatus, error) {
	return resource.MirrorStatus{At: demoStart, Repositories: []resource.MirrorRepository{{
		URL: "https://deb.example/", Objects: 3, Bytes: 70, Fresh: 1, Validated: new(demoStart.Add(-time.Minute)), Answers: resource.MirrorFails, Code: protocol.CodeTimeout, Served: 8, Missed: 2,
	}}}, nil
}

func (*demoAgent) Flush(_ context.Context, what string, force bool) (resource.MirrorFlushed, error) {
	if !force {
		return resource.MirrorFlushed{}, protocol.Errorf(protocol.CodeConflict, "flush", "https://deb.example/ does not answer").WithHint("--force")
	}
	return resource.MirrorFlushed{What: what, Objects: 3, Bytes: 70, Kept: 1, KeptBytes: 9}, nil
}

func (d *demoAgent) Place(h resource.ActiveHold) (local.Hold, bool, error) {
	d.placed = h
	return local.Hold{ActiveHold: h, Word: resource.HoldEnforced, Local: true}, true, nil
}

func (*demoAgent) Release(id, by, reason string) (local.Hold, error) {
	if reason == "" {
		return local.Hold{}, protocol.Errorf(protocol.CodeDenied, "release", "it is admin's").WithHint("give a reason")
	}
	return local.Hold{ActiveHold: resource.ActiveHold{ID: id}, Word: resource.HoldReleased, Released: &resource.Release{By: by, Reason: reason}}, nil
}

func (d *demoAgent) Resume(r resource.Request) error {
	if r.Server != "n1" || r.Why != "breaker reset" || r.By != "local:ann" {
		return protocol.Errorf(protocol.CodeInvalid, "resume", "%+v", r)
	}
	return nil
}

func (*demoAgent) Confirm(string, string, string) (local.Hold, error) { return demoHold(), nil }

// demo is an agent's API on a socket, and a file that names it.
func demo(t *testing.T) (d *demoAgent, socket, config string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "rb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d, socket, config = &demoAgent{}, filepath.Join(dir, "s"), filepath.Join(dir, "agent.yaml")
	text := fmt.Sprintf("dataDir: %s\ncredentialsDir: %s\nsocket: %s\n", dir, dir, socket)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := local.Socket{Path: socket}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	a := local.New(local.Config{
		Reader: d, Writer: d, NewID: func() string { return "01k9c" }, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
		UserName: func(string) (string, error) { return "ann", nil },
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return d, socket, config
}

// TestLocalCommands runs each command against an agent. Exit codes are those of the
// error table.
func TestLocalCommands(t *testing.T) {
	d, socket, config := demo(t)
	missing := filepath.Join(filepath.Dir(socket), "none")
	for name, row := range map[string]struct {
		args []string
		code int
		want []string // in the output, or in what is said of the error
	}{
		"status":            {[]string{"status"}, 0, []string{"rack-a-1", "Hub verified:", "no", "epoch 1, version 7", "Events that wait:", "Oldest recorded read:", "1m2s ago", "Stale:", "HubUnverified", "Check the hub", "Guard mode:", "ago: no space; only what is held is known"}},
		"servers":           {[]string{"servers"}, 0, []string{"NAME", "n1", "Reserved", "Off", "Held", "stale"}},
		"explain":           {[]string{"explain", "n1"}, 0, []string{"Next:", "the release of all its holds", "01k9a", "row [31m7", "c1", "not read since", "its last recorded read is older than three polls", "In guard mode:", "read running", "forced off 2 times", "longest without a read 1m2s"}},
		"explain another":   {[]string{"explain", "n2"}, 3, []string{`no server "n2"`, "hint: look at the list"}},
		"explain nothing":   {[]string{"explain"}, 2, []string{"accepts 1 arg", "--help"}},
		"trace":             {[]string{"trace", "n1"}, 0, []string{"+1.500s", "DISCOVER", "row [31m7", "Outcome: Failed, WrongMethod, after 1m0s", "firmware used UefiHttp", "hint: Check the boot order"}},
		"an earlier trace":  {[]string{"trace", "n1", "--attempt", "4", "-o", "json"}, 0, []string{`"serial": 4`}},
		"holds":             {[]string{"holds"}, 0, []string{"READ", " stale ", "STOPPED-SINCE", "2026-11-20T08:00:00Z", "not yet", "released by local:ann: hub is lost"}},
		"hold":              {[]string{"hold", "n1", "--key", "k", "--mode", "hard", "--ttl", "1h", "--reason", "smoke"}, 0, []string{"01k9c", "Enforced", "local:ann"}},
		"hold without key":  {[]string{"hold", "n1"}, 2, []string{"spec.key"}},
		"another flag":      {[]string{"hold", "n1", "--keys", "k"}, 2, []string{"unknown flag"}},
		"another command":   {[]string{"holt"}, 2, []string{"unknown command"}},
		"another output":    {[]string{"holds", "-o", "yaml"}, 2, []string{"table, json"}},
		"release":           {[]string{"release", "01k9a"}, 8, []string{"it is admin's", "hint: give a reason"}},
		"break glass":       {[]string{"release", "01k9a", "--break-glass", "hub is lost"}, 0, []string{"Released", "released by local:ann: hub is lost"}},
		"confirm down":      {[]string{"confirm-down", "01k9a", "--reason", "cables are out"}, 0, []string{"01k9a"}},
		"resume":            {[]string{"resume", "n1", "--reason", "breaker reset"}, 0, []string{"01k9c", "n1"}},
		"resume, no reason": {[]string{"resume", "n1"}, 2, []string{"reason is empty"}},
		"without a reason":  {[]string{"confirm-down", "01k9a"}, 2, []string{"reason is empty"}},
		"mirror":            {[]string{"mirror"}, 0, []string{"REPOSITORY", "https://deb.example/", "1m0s", "No", "timeout", "8 "}},
		"flush":             {[]string{"mirror-flush", "/debian", "--force"}, 0, []string{"KEPT-BYTES", "70"}},
		"flush while away":  {[]string{"mirror-flush"}, 4, []string{"does not answer"}},
		"no loss reason":    {[]string{"accept-loss"}, 2, []string{"--reason REASON"}},
		"a loss":            {[]string{"accept-loss", "--reason", "its disk broke"}, 0, []string{"within seconds"}},
		"no agent":          {[]string{"status", "--socket", missing}, 6, []string{"hint: no agent listens on " + missing}},
		"a socket too long": {[]string{"status", "--socket", "/" + strings.Repeat("x", 200)}, 2, []string{"201 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := Main(append([]string{"--config", config}, row.args...), "v9", &out, &errs)
			if code != row.code || (code == 0) != (errs.Len() == 0) {
				t.Errorf("exit code %d, want %d: %s", code, row.code, errs.String())
			}
			for _, w := range row.want {
				if !strings.Contains(out.String()+errs.String(), w) {
					t.Errorf("no %q in\n%s%s", w, out.String(), errs.String())
				}
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Errorf("a control character in %q", out.String())
			}
		})
	}
	if p := d.placed; p.Server != "n1" || p.Key != "k" || p.Mode != resource.StopHard || p.TTL.D() != time.Hour || p.OnExpiry != resource.ExpiryKeep || p.Owner != "local:ann" {
		t.Errorf("%+v", p)
	}
}

// TestLocalJSON: what programs read is what the API answers.
func TestLocalJSON(t *testing.T) {
	_, socket, _ := demo(t)
	var out, errs bytes.Buffer
	if code := Main([]string{"holds", "--socket", socket, "-o", "json"}, "v9", &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var all local.List[local.Hold]
	if err := json.Unmarshal(out.Bytes(), &all); err != nil || len(all.Items) != 2 || all.Items[0].Reason != demoHold().Reason {
		t.Errorf("%+v, %v", all, err)
	}
}
