package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// fleetText has n servers with their BMCs in one rack, the servers first, so that each refers to what comes later.
func fleetText(n int) string {
	var servers, bmcs strings.Builder
	for i := range n {
		fmt.Fprintf(&servers, "---\napiVersion: rackboot/v1\nkind: Server\nmetadata: {name: n%d, labels: {row: %q}}\nspec:\n  bmcRef: {name: b%d}\n  segmentRef: {name: boot}\n  bootMAC: 52:54:00:01:%02x:%02x\n", i, "7", i, i>>8, i&255)
		fmt.Fprintf(&bmcs, "---\napiVersion: rackboot/v1\nkind: BMC\nmetadata: {name: b%d}\nspec:\n  address: https://10.0.%d.%d\n  rackRef: {name: r1}\n  credentialsRef: local:c\n  tls: {fingerprint: \"sha256:%064d\"}\n", i, i>>8, i&255, 0)
	}
	return servers.String() + bmcs.String() + `---
apiVersion: rackboot/v1
kind: Segment
metadata: {name: boot}
spec: {rackRef: {name: r1}, role: boot, prefix: 10.9.0.0/16, address: 10.9.0.1, pool: {from: 10.9.0.10, to: 10.9.200.0}, baseURL: "http://10.9.0.1:8080"}
---
apiVersion: rackboot/v1
kind: Rack
metadata: {name: r1}
spec: {}
`
}

// large makes a text longer than one request may be, by a comment in each document.
func large(text string) string {
	return strings.ReplaceAll(text, "---\n", "---\n# "+strings.Repeat(".", 800)+"\n")
}

// A file above what one request takes is applied in parts, each after what it refers to; again it is unchanged. One bad
// server among them is named with its line, and nothing is written.
func TestApplyOfAnySize(t *testing.T) {
	const servers = 800
	h := apitest.New(t)
	path := filepath.Join(t.TempDir(), "fleet.yaml")
	text := large(fleetText(servers))
	if len(text) <= 1<<20 {
		t.Fatalf("the file has %d bytes only", len(text))
	}
	run := func(text string, args ...string) (int, string, string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := Run(t.Context(), Config{Args: append([]string{"apply"}, args...), Out: &out, Err: &errs, In: strings.NewReader(text), Getenv: configured(t, h, apitest.Token)})
		return code, out.String(), errs.String()
	}
	there := func() int { return len(store.Copies[*resource.Server](h.Store.Objects)) }

	bad := strings.Replace(text, "name: n777, labels", "name: n777, revision: 7, labels", 1)
	code, out, errs := run(bad, "-f", path)
	if line := fmt.Sprintf("fleet.yaml:%d: document 778: metadata", 1+9*777+4); code != protocol.CodeConflict.ExitCode() || out != "" || !strings.Contains(errs, line) || there() != 0 {
		t.Fatalf("exit %d, %d servers: %s\n%s", code, there(), out, errs)
	}
	code, out, errs = run(bad, "-f", path, "--keep-going", "-o", "json")
	var answer struct {
		Results []struct {
			Kind, Name, Outcome string
			Code                protocol.Code
		} `json:"results"`
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != protocol.CodeConflict.ExitCode() || len(answer.Results) != 2*servers+2 || there() != servers-1 ||
		!strings.Contains(errs, "1602 resources: 1601 created, 1 refused") {
		t.Fatalf("exit %d, %v, %d results, %d servers\n%s", code, err, len(answer.Results), there(), errs)
	}
	for _, r := range answer.Results {
		if (r.Name == "n777") != (r.Outcome == "refused") || (r.Outcome == "refused") != (r.Code == protocol.CodeConflict) {
			t.Errorf("%+v", r)
		}
	}
	if code, out, errs = run(text, "-f", "-", "-o", "name"); code != 0 || strings.Count(out, "\n") != 2*servers+2 || !strings.Contains(errs, "1 created, 1601 unchanged") {
		t.Errorf("exit %d, %d names\n%s", code, strings.Count(out, "\n"), errs)
	}
	if code, out, errs = run(text, "-f", path, "--dry-run"); code != 0 || !strings.Contains(out, "server/n7 unchanged (dry run)\n") || !strings.Contains(errs, "1602 unchanged (dry run)") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	diff := func(text string) (int, string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := Run(t.Context(), Config{Args: []string{"diff", "-f", path}, Out: &out, Err: &errs, In: strings.NewReader(""), Getenv: configured(t, h, apitest.Token)})
		return code, out.String() + errs.String()
	}
	if code, said := diff(text); code != 0 || said != "" {
		t.Errorf("exit %d: %s", code, said)
	}
	if code, said := diff(strings.Replace(text, `name: n799, labels: {row: "7"}`, `name: n799, labels: {row: "8"}`, 1)); code != 1 || !strings.Contains(said, "hub/server/n799") || !strings.Contains(said, "+    row: \"8\"") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// Each resource is judged by the rights of who applies it: who may write nothing is told so, and of what is out of
// a caller's scope the others are written with --keep-going.
func TestApplyOfAnySizeIsJudged(t *testing.T) {
	h := apitest.New(t)
	path := filepath.Join(t.TempDir(), "fleet.yaml")
	run := func(text, caller string, args ...string) (int, string, string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := Run(t.Context(), Config{Args: append([]string{"apply", "-f", path}, args...), Out: &out, Err: &errs, In: strings.NewReader(""), Getenv: configured(t, h, caller)})
		return code, out.String(), errs.String()
	}
	text := strings.Replace(large(fleetText(800)), "metadata: {name: r1}", `metadata: {name: r1, labels: {row: "7"}}`, 1)
	if code, out, errs := run(text, apitest.TokenOf("viewer")); code != protocol.CodeDenied.ExitCode() || out != "" || len(store.Copies[*resource.Rack](h.Store.Objects)) != 0 {
		t.Errorf("exit %d: %s\n%s", code, out, errs)
	}
	if code, _, errs := run(text, apitest.Token); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	text = strings.ReplaceAll(text, "labels: {row: \"7\"}}\nspec:\n  bmcRef", "labels: {row: \"7\", seen: \"1\"}}\nspec:\n  bmcRef")
	text = strings.Replace(text, `name: n500, labels: {row: "7",`, `name: n500, labels: {row: "8",`, 1)
	code, out, errs := run(text, apitest.TokenOf("row7"))
	if code != protocol.CodeDenied.ExitCode() || out != "" || !strings.Contains(errs, "fleet.yaml:") || !strings.Contains(errs, "Server n500") {
		t.Errorf("exit %d: %s\n%s", code, out, errs)
	}
	if code, _, errs = run(text, apitest.TokenOf("row7"), "--keep-going", "-o", "name"); code != protocol.CodeDenied.ExitCode() || !strings.Contains(errs, "799 configured, 802 unchanged, 1 refused") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// With --keep-going a small file too is applied but for what is refused, and what refers to that.
func TestApplyKeepsGoing(t *testing.T) {
	h := apitest.New(t)
	text := strings.Replace(fleetText(3), "name: b1}\nspec", "name: b1, uid: other}\nspec", 1)
	for _, row := range []struct {
		args string
		want int
		says string
	}{
		{"apply -f -", 0, "stdin:37: document 5: metadata: it does not exist any more"},
		{"apply -f - --keep-going", 2, "8 resources: 6 created, 1 refused, 1 not tried"},
	} {
		var out, errs bytes.Buffer
		code := Run(t.Context(), Config{Args: strings.Fields(row.args), Out: &out, Err: &errs, In: strings.NewReader(text), Getenv: configured(t, h, apitest.Token)})
		if n := len(store.Copies[*resource.Server](h.Store.Objects)); code != protocol.CodeConflict.ExitCode() || n != row.want || !strings.Contains(errs.String(), row.says) {
			t.Errorf("%s: exit %d, %d servers\n%s", row.args, code, n, errs.String())
		}
	}
}

// A check that finds very much that is wrong ends, and says so.
func TestApplyEndsItsCheck(t *testing.T) {
	h := apitest.New(t)
	text := strings.ReplaceAll(large(fleetText(800)), `labels: {row: "7"}`, `revision: 7`)
	var out, errs bytes.Buffer
	code := Run(t.Context(), Config{Args: []string{"apply", "-f", "-"}, Out: &out, Err: &errs, In: strings.NewReader(text), Getenv: configured(t, h, apitest.Token)})
	if code != protocol.CodeConflict.ExitCode() || !strings.Contains(errs.String(), "others may be wrong too") || len(store.Copies[*resource.Rack](h.Store.Objects)) != 0 {
		t.Errorf("exit %d: %.600s", code, errs.String())
	}
}

// A reboot annotation that moves from a server to its claim, in parts that are written one after another, releases
// its hold at no moment.
func TestLargeApplyMovesAnAnnotation(t *testing.T) {
	h := apitest.New(t)
	apply := func(text string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Run(t.Context(), Config{Args: []string{"apply", "-f", "-"}, Out: &out, Err: &errs, In: strings.NewReader(text), Getenv: configured(t, h, apitest.Token)}); code != 0 {
			t.Fatalf("exit %d: %s", code, errs.String())
		}
	}
	const annotation = `annotations: {reboot.metal3.io/node: ""}`
	claim := "---\napiVersion: rackboot/v1\nkind: Claim\nmetadata: {name: c1%s}\nspec: {serverRef: {name: n1}, power: On, image: \"registry.example/os:1\", bootPolicy: {firstBoot: Pxe}}\n"
	text := large(fleetText(800))
	apply(strings.Replace(text, "{name: n1, labels", "{name: n1, "+annotation+", labels", 1) + fmt.Sprintf(claim, ""))
	before := h.Store.Holds.On("n1")
	apply(text + fmt.Sprintf(claim, ", "+annotation))
	after := h.Store.Holds.On("n1")
	if len(before) != 1 || len(after) != 1 || before[0].Metadata.UID != after[0].Metadata.UID || after[0].Status.ReleasedAt != nil {
		t.Errorf("%+v, then %+v", before, after)
	}
	apply(text + fmt.Sprintf(claim, ""))
	if left := h.Store.Holds.On("n1"); len(left) != 0 {
		t.Errorf("%+v is left", left)
	}
}
