package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"rackboot/hub/api/apitest"
	"rackboot/hub/approval"
	"rackboot/hub/store"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/backupfile"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// update rewrites the golden texts of the scripts.
var update = flag.Bool("update", false, "update the scripts' golden texts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rackctl": main})
}

// site is in each script's folder as site.yaml.
const site = `apiVersion: rackboot/v1
kind: Rack
metadata: {name: r1}
---
apiVersion: rackboot/v1
kind: Segment
metadata: {name: boot}
spec:
  rackRef: {name: r1}
  prefix: 10.7.0.0/24
  address: 10.7.0.1
  pool: {from: 10.7.0.100, to: 10.7.0.200}
---
apiVersion: rackboot/v1
kind: BMC
metadata: {name: b1}
spec: {rackRef: {name: r1}, address: "http://127.0.0.1:8000", credentialsRef: "local:b1"}
---
apiVersion: rackboot/v1
kind: Server
metadata: {name: n1, labels: {row: "7"}}
spec:
  bmcRef: {name: b1}
  segmentRef: {name: boot}
  bootMAC: 52:54:00:00:00:01
---
apiVersion: rackboot/v1
kind: Claim
metadata: {name: c1}
spec:
  serverRef: {name: n1}
  power: On
  image: registry.example/os:1
  bootPolicy: {firstBoot: UefiHttp}
`

type hubKey struct{}

// patience is how long a script waits for a rackctl that it has started in the background.
const patience = time.Minute

// Each script has a hub of its own, on an in-memory store.
func TestScripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 8 {
		t.Fatalf("%d scripts, %v", len(names), err)
	}
	testscript.Run(t, params("testdata"))
}

// params runs the scripts of a folder.
func params(dir string) testscript.Params {
	return testscript.Params{
		Dir: dir, UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			start := apitest.New
			if _, err := os.Stat(filepath.Join(env.WorkDir, "two-hubs")); err == nil { // a script says that its hub is one of two
				start = apitest.NewOfTwo
			}
			hub := start(env.T().(testing.TB))
			env.Values[hubKey{}] = hub
			env.Setenv("HUB", hub.URL)
			env.Setenv("HUBHOST", strings.TrimPrefix(hub.URL, "https://"))
			env.Setenv("AUDIT", hub.AuditDir)
			inputs, err := filepath.Abs("../internal/convert/testdata") // in the forms of other tools
			if err != nil {
				return err
			}
			env.Setenv("CONVERT", inputs)
			program, err := os.Executable() // some program of this architecture
			if err != nil {
				return err
			}
			env.Setenv("PROGRAM", program)
			env.Setenv("GOARCH", runtime.GOARCH)
			script, err := inventoryScript()
			if err != nil {
				return err
			}
			// The race detector holds each process up for a second when it exits.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			registry, err := sim.StartRegistry("127.0.0.1:0")
			if err != nil {
				return err
			}
			env.Defer(func() { _ = registry.Close() })
			env.Setenv("REGISTRY", registry.Addr)
			config := filepath.Join(env.WorkDir, "config.yaml")
			env.Setenv("RACKCTL_CONFIG", config)
			ca, err := json.Marshal(string(hub.CA))
			if err != nil {
				return err
			}
			publisher, _, err := wire.EncodeKey(apitest.Publisher())
			if err != nil {
				return err
			}
			cert, key := hub.Certificate(env.T().(testing.TB), "viewer")
			stranger, strangerKey := hub.Certificate(env.T().(testing.TB), "stranger")
			block, _ := pem.Decode(hub.CA)
			sum := sha256.Sum256(block.Bytes)
			env.Setenv("FINGERPRINT", "sha256:"+hex.EncodeToString(sum[:]))
			for path, text := range map[string]string{
				filepath.Join(env.WorkDir, "inventory.sh"):   script,
				filepath.Join(env.WorkDir, "os.efi"):         string(sim.UKI([]byte("a system"))),
				filepath.Join(env.WorkDir, "viewer.pem"):     string(cert),
				filepath.Join(env.WorkDir, "viewer.key"):     string(key),
				filepath.Join(env.WorkDir, "stranger.pem"):   string(stranger),
				filepath.Join(env.WorkDir, "stranger.key"):   string(strangerKey),
				filepath.Join(env.WorkDir, "row7.token"):     apitest.TokenOf("row7") + "\n",
				filepath.Join(env.WorkDir, "operator.token"): apitest.TokenOf("operator") + "\n",

				filepath.Join(env.WorkDir, "trusted.pem"): string(publisher),
				config:                                  fmt.Sprintf("current: test\ncontexts:\n- name: test\n  url: %s\n  ca: %s\n  token: %s\n", hub.URL, ca, apitest.Token),
				filepath.Join(env.WorkDir, "ca.pem"):    string(hub.CA),
				filepath.Join(env.WorkDir, "hub.pub"):   string(hub.AuditKey),
				filepath.Join(env.WorkDir, "token"):     apitest.Token + "\n",
				filepath.Join(env.WorkDir, "ha.token"):  apitest.ClientToken + "\n",
				filepath.Join(env.WorkDir, "site.yaml"): site,
			} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "fleet": fleet, "bind": bind, "answer": answer, "audit": auditEntries, "capture": capture, "asked": asked, "appears": appears, "revision": revision,
			"archive": archive, "backups": backups, "digest": digest, "begin": begin,
		},
	}
}

// inventoryScript is the one that the guide has Ansible call.
func inventoryScript() (string, error) {
	page, err := os.ReadFile("../../docs/guide/ansible.md")
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(page), "```sh example: saved as inventory.sh; the scripts of rackctl run it\n")
	script, _, ended := strings.Cut(rest, "```\n")
	if !found || !ended {
		return "", errors.New("docs/guide/ansible.md has no script")
	}
	return script, nil
}

// exits CODE PROGRAM ARGS... wants the program to end with the code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// auditEntries CALLER OP TARGET OUTCOME N appends N entries to the hub's audit log.
func auditEntries(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: audit CALLER OP TARGET OUTCOME N")
	}
	n, err := strconv.Atoi(args[4])
	ts.Check(err)
	e := protocol.AuditEntry{Caller: args[0], Roles: []string{"fencer"}, From: "192.0.2.7", Op: args[1], Target: args[2], Outcome: protocol.AuditOutcome(args[3]), Reason: "a reason"}
	for range n {
		_, err := hubOf(ts).Audit.Append(context.Background(), e)
		ts.Check(err)
	}
}

// backups plain | for KEY | cut N | refuse | status FILE says how the hub's next backups are made, or the status that it shows.
func backups(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: backups HOW")
	}
	b := hubOf(ts).Backups
	switch args[0] {
	case "for":
		to, err := backupfile.Recipients([]byte(args[1]))
		ts.Check(err)
		b.Set(b.Status(), to, nil, 0)
	case "cut":
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		b.Set(b.Status(), nil, nil, n)
	case "refuse":
		b.Set(b.Status(), nil, protocol.Errorf(protocol.CodeUnsupported, "make backup", "nobody is named").WithHint("name somebody"), 0)
	case "status":
		var s api.BackupStatus
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &s))
		b.Set(s, nil, nil, 0)
	default:
		b.Set(b.Status(), nil, nil, 0)
	}
}

func hubOf(ts *testscript.TestScript) *apitest.Hub { return ts.Value(hubKey{}).(*apitest.Hub) }

// fleet server|claim|hold|read|bmc|probe|firmware|trace|mirror|approvals NAME FILE makes the hub's fleet report the status in
// a JSON file (a hold is named by its key); group is the status of one, and revision the next of a group; fleet event SERVER CODE MESSAGE
// makes an event, and fleet agent RACK AGENT gives a rack its agent.
func fleet(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: fleet KIND NAME FILE")
	}
	f := hubOf(ts).Fleet
	if args[0] == "event" {
		f.AddEvent(args[1], resource.ConditionCode(args[2]), args[3])
		return
	}
	if args[0] == "agent" {
		r, err := store.Get[*resource.Rack](hubOf(ts).Store.Objects, args[1])
		ts.Check(err)
		r.Status.Agent = args[2]
		ts.Check(hubOf(ts).Store.Objects.Put(context.Background(), r))
		return
	}
	raw := []byte(ts.ReadFile(args[2]))
	switch args[0] {
	case "approvals": // NAME is the file of the public key that signs them
		var list []resource.ApprovalRequest
		ts.Check(json.Unmarshal(raw, &list))
		key, err := approval.ReadPublic(ts.MkAbs(args[1]), nil)
		ts.Check(err)
		hubOf(ts).Approver.Set(key, list)
	case "server":
		var s resource.ServerStatus
		ts.Check(json.Unmarshal(raw, &s))
		f.SetServer(args[1], s)
	case "bmc": // one that was found and waits, if there is none of the name
		var s resource.BMCStatus
		ts.Check(json.Unmarshal(raw, &s))
		waits(ts, args[1], s)
		f.SetBMC(args[1], s)
	case "probe":
		var list []protocol.Probe
		ts.Check(json.Unmarshal(raw, &list))
		f.SetProbe(args[1], list, nil)
	case "firmware": // of a server
		var shown protocol.Firmware
		ts.Check(json.Unmarshal(raw, &shown))
		hubOf(ts).Plans.Set(args[1], shown)
	case "settings": // that were last written of a server
		var run resource.FirmwareRun
		ts.Check(json.Unmarshal(raw, &run))
		s, err := store.Get[*resource.Server](hubOf(ts).Plans.Objects, args[1])
		ts.Check(err)
		s.Status.Settings = &run
		ts.Check(hubOf(ts).Plans.Objects.Put(context.Background(), s))
	case "trace":
		var list []resource.Trace
		ts.Check(json.Unmarshal(raw, &list))
		f.SetTraces(args[1], list)
	case "mirror": // of a rack
		var s resource.MirrorStatus
		ts.Check(json.Unmarshal(raw, &s))
		hubOf(ts).Mirrors.SetMirror(args[1], s)
	case "claim":
		var s resource.ClaimStatus
		ts.Check(json.Unmarshal(raw, &s))
		f.SetClaim(args[1], s)
	case "group":
		g, err := store.Get[*resource.ServerGroup](hubOf(ts).Store.Objects, args[1])
		ts.Check(err)
		g.Status = resource.ServerGroupStatus{}
		ts.Check(json.Unmarshal(raw, &g.Status))
		ts.Check(hubOf(ts).Store.Objects.Put(context.Background(), g))
	case "revision": // NAME is the group
		g, err := store.Get[*resource.ServerGroup](hubOf(ts).Store.Objects, args[1])
		ts.Check(err)
		r := &resource.GroupRevision{}
		ts.Check(json.Unmarshal(raw, r))
		r.Spec.Group, r.Spec.GroupUID = g.Metadata.Name, g.Metadata.UID
		r.Metadata.Name = resource.GroupRevisionName(r.Spec.Group, r.Spec.Number)
		ts.Check(hubOf(ts).Store.Objects.Put(context.Background(), r))
	case "read": // of a server; the holds in it are named by their keys
		var r resource.ServerRead
		ts.Check(json.Unmarshal(raw, &r))
		r.Server = args[1]
		for i := range r.Proved {
			for _, h := range store.List[*resource.Hold](hubOf(ts).Store.Objects) {
				if h.Spec.Key == r.Proved[i].Hold {
					r.Proved[i].Hold = h.Metadata.Name
				}
			}
		}
		f.SetRead(r)
	case "hold":
		var s resource.HoldStatus
		ts.Check(json.Unmarshal(raw, &s))
		f.SetHold(args[1], s)
	default:
		ts.Fatalf("unknown kind %s", args[0])
	}
}

// waits makes a BMC of rack r1 as the hub's control does when an agent found it.
func waits(ts *testscript.TestScript, name string, s resource.BMCStatus) {
	if _, err := store.Get[*resource.BMC](hubOf(ts).Store.Objects, name); err == nil {
		return
	}
	b := &resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: "r1"}, MACAddress: s.Found.MAC}}
	b.Metadata.Name, b.Status = name, resource.BMCStatus{State: resource.BMCPending, Found: s.Found, Address: s.Found.Address}
	ts.Check(hubOf(ts).Store.Objects.Put(context.Background(), b))
}

// bind CLAIM SERVER gives a claim its server, as the hub's control does; with
// "-" it removes the claim, as control does after a proven Off.
func bind(ts *testscript.TestScript, _ bool, args []string) {
	s := hubOf(ts).Store
	ctx := context.Background()
	claim, err := store.Get[*resource.Claim](s.Objects, args[0])
	ts.Check(err)
	if args[1] == "-" {
		ts.Check(s.Objects.Remove(ctx, claim))
		return
	}
	claim.Status.Server = args[1]
	ts.Check(s.Objects.Put(ctx, claim))
}

// revision note keeps the store's revision; revision same wants it unchanged since.
func revision(ts *testscript.TestScript, _ bool, args []string) {
	_, now, err := hubOf(ts).KV.List(context.Background(), "")
	ts.Check(err)
	if args[0] == "note" {
		ts.Setenv("REVISION", strconv.FormatUint(now, 10))
		return
	}
	if was := ts.Getenv("REVISION"); was != strconv.FormatUint(now, 10) {
		ts.Fatalf("the store is at revision %d, it was at %s: something was written", now, was)
	}
}

// answer OUTCOME REASON ends every request that is pending, as soon as there is
// one.
func answer(ts *testscript.TestScript, _ bool, args []string) {
	s := hubOf(ts).Store
	changed, stop := s.Subscribe()
	defer stop()
	deadline := time.After(patience)
	for {
		n := 0
		for _, r := range s.Requests.List() {
			if r.Report.Outcome == resource.OutcomePending {
				r.Report.Outcome, r.Report.Reason = resource.Outcome(args[0]), args[1]
				ts.Check(s.Requests.Put(context.Background(), r))
				n++
			}
		}
		if n > 0 {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			ts.Fatalf("no request came")
		}
	}
}

// capture NAME sets a variable to the last output, without what is before its
// last slash.
func capture(ts *testscript.TestScript, _ bool, args []string) {
	out := strings.TrimSpace(ts.ReadFile("stdout"))
	ts.Setenv(args[0], out[strings.LastIndex(out, "/")+1:])
}

// appears FILE REGEXP waits until a file has a line that matches.
func appears(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: appears FILE REGEXP")
	}
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	var raw []byte
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if raw, err = os.ReadFile(ts.MkAbs(args[0])); err == nil && want.Match(raw) {
			return
		}
	}
	ts.Fatalf("%s has no line %s: %v\n%s", args[0], args[1], err, raw)
}

// asked ROUTE N waits until the hub has answered a route N times.
func asked(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		families, err := hubOf(ts).Registry.Gather()
		ts.Check(err)
		got := 0.0
		for _, f := range families {
			if f.GetName() != "rackboot_hub_api_requests_total" {
				continue
			}
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if l.GetValue() == args[0] {
						got += m.GetCounter().GetValue()
					}
				}
			}
		}
		if int(got) >= want {
			return
		}
	}
	ts.Fatalf("%s was not asked %d times", args[0], want)
}
