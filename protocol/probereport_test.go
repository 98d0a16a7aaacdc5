package protocol

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func fullInventory() *HostInventory {
	return &HostInventory{
		Board:       Board{Vendor: "Dell Inc.", Product: "PowerEdge R650", Serial: "4C1QX24", UUID: "4c4c4544-0031-3510-8031-b4c04f435331", BIOSVendor: "Dell Inc.", BIOSVersion: "1.9.2", BIOSDate: "11/17/2025"},
		CPU:         HostCPU{Model: "Xeon", Architecture: "amd64", Sockets: 2, Cores: 64, Threads: 128},
		MemoryBytes: 512 << 30,
		Interfaces:  []HostInterface{{Name: "eth0", MAC: "02:00:00:00:00:01", Link: true, SpeedMbps: 25000, Neighbours: []Neighbour{{Chassis: "c", Port: "p", System: "leaf-1"}}}},
		Disks:       []HostDisk{{Name: "sda", Bytes: 1 << 40, Rotational: true, Transport: "sata"}},
	}
}

func TestDecodeProbeReport(t *testing.T) {
	change := func(f func(*HostInventory)) string {
		h := fullInventory()
		f(h)
		raw, err := json.Marshal(ProbeReport{State: ProbeDiscovered, Inventory: h})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for _, row := range []struct {
		name, body string
		path       ProbeState
		want       string // in the error; empty: taken
	}{
		{"everything", change(func(*HostInventory) {}), ProbeDiscovered, ""},
		{"state of the path", `{}`, ProbeBooted, ""},
		{"state of the body", `{"state":"failed","message":"no disk\nfound"}`, "", ""},
		{"a field of a newer image", `{"state":"booted","colour":"red"}`, "", ""},
		{"no state", `{}`, "", "state"},
		{"unknown state", `{"state":"burnt"}`, "", "burnt"},
		{"two states", `{"state":"booted"}`, ProbeInstalled, "the path"},
		{"no JSON", `state=booted`, ProbeBooted, "invalid"},
		{"a list", `[]`, ProbeBooted, "array"},
		{"something behind it", `{} {}`, ProbeBooted, "after top-level"},
		{"not UTF-8", "{\"message\":\"\xff\"}", ProbeBooted, "UTF-8"},
		{"too long", `{"message":"` + strings.Repeat(" ", MaxProbeReport) + `"}`, ProbeBooted, "at most"},
		{"long message", `{"message":"` + strings.Repeat("x", MaxProbeMessage+1) + `"}`, ProbeBooted, "message"},
		{"control characters", `{"message":"\u001b[2J"}`, ProbeBooted, "message"},
		{"text too long", change(func(h *HostInventory) { h.Board.Serial = strings.Repeat("x", MaxHostText+1) }), "", "board.serial"},
		{"text with an escape", change(func(h *HostInventory) { h.Disks[0].Model = "\x1b[0m" }), "", "disks[0].model"},
		{"UUID", change(func(h *HostInventory) { h.Board.UUID = "Not Settable" }), "", "board.uuid"},
		{"MAC of a group", change(func(h *HostInventory) { h.Interfaces[0].MAC = "01:80:c2:00:00:0e" }), "", "interfaces[0].mac"},
		{"no MAC", change(func(h *HostInventory) { h.Interfaces[0].MAC = "" }), "", "interfaces[0].mac"},
		{"permanent MAC", change(func(h *HostInventory) { h.Interfaces[0].PermanentMAC = "AA" }), "", "permanentMAC"},
		{"speed", change(func(h *HostInventory) { h.Interfaces[0].SpeedMbps = -1 }), "", "speedMbps"},
		{"neighbour", change(func(h *HostInventory) { h.Interfaces[0].Neighbours[0].Port = "\n" }), "", "neighbours[0].port"},
		{"too many neighbours", change(func(h *HostInventory) { h.Interfaces[0].Neighbours = make([]Neighbour, MaxNeighbours+1) }), "", "neighbours"},
		{"too many interfaces", change(func(h *HostInventory) { h.Interfaces = make([]HostInterface, MaxHostInterfaces+1) }), "", "interfaces"},
		{"too many disks", change(func(h *HostInventory) { h.Disks = make([]HostDisk, MaxHostDisks+1) }), "", "disks"},
		{"a disk without a name", change(func(h *HostInventory) { h.Disks[0].Name = "" }), "", "disks[0].name"},
		{"bytes", change(func(h *HostInventory) { h.Disks[0].Bytes = 1 << 60 }), "", "disks[0].bytes"},
		{"memory", change(func(h *HostInventory) { h.MemoryBytes = 1 << 60 }), "", "memoryBytes"},
		{"cores", change(func(h *HostInventory) { h.CPU.Cores = -1 }), "", "cpu.cores"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := DecodeProbeReport([]byte(row.body), row.path)
			switch {
			case row.want == "" && (err != nil || r.State == ""):
				t.Errorf("%+v, %v", r, err)
			case row.want != "" && (CodeOf(err) != CodeInvalid || !strings.Contains(err.Error(), row.want)):
				t.Errorf("error %v, want %q", err, row.want)
			}
		})
	}
}

func TestImageReportFollow(t *testing.T) {
	one, two := time.Unix(1, 0), time.Unix(2, 0)
	first, err := ImageReport{}.Follow(ProbeReport{State: ProbeDiscovered, Inventory: fullInventory()}, "one", one)
	if err != nil || first.Digest == "" || first.Bytes == 0 || !first.InventoryAt.Equal(one) {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := first.Follow(ProbeReport{State: ProbeDiscovered, Inventory: fullInventory()}, "one", two)
	if err != nil || !again.Says(first) || !again.InventoryAt.Equal(one) || !again.At.Equal(two) {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	without, err := first.Follow(ProbeReport{State: ProbeInstalled}, "one", two)
	if err != nil || without.Inventory == nil || without.State != ProbeInstalled || without.Says(first) {
		t.Errorf("without an inventory: %+v, %v", without, err)
	}
	other := fullInventory()
	other.Disks = nil
	changed, err := first.Follow(ProbeReport{State: ProbeDiscovered, Inventory: other}, "one", two)
	if err != nil || changed.Says(first) || !changed.InventoryAt.Equal(two) || changed.Inventory != other {
		t.Errorf("another: %+v, %v", changed, err)
	}
}

// TestFailureReport: what the body of a failure says is kept where it says something.
func TestFailureReport(t *testing.T) {
	for body, want := range map[string]string{
		"": "", "no disk\n": "no disk", `{"message":"no disk"}`: "no disk", `{"state":"failed","message":"no disk"}`: "no disk",
		`{"state":"booted"}`: `{"state":"booted"}`, "\x00a\xff": "a?", strings.Repeat("x", 5000): strings.Repeat("x", MaxProbeMessage),
	} {
		r := FailureReport([]byte(body))
		if r.State != ProbeFailed || r.Message != want || len(r.Validate()) != 0 {
			t.Errorf("%.40q: %s %.80q, want %.40q; %v", body, r.State, r.Message, want, r.Validate())
		}
	}
}

// FuzzFailureReport: whatever is sent, it is a report that counts.
func FuzzFailureReport(f *testing.F) {
	for _, body := range []string{"", "no disk", `{"message":"x"}`, "\xff\x00", strings.Repeat("é", 600)} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if r := FailureReport(body); r.State != ProbeFailed || len(r.Validate()) != 0 {
			t.Errorf("%+v: %v", r, r.Validate())
		}
	})
}

func FuzzDecodeProbeReport(f *testing.F) {
	raw, err := json.Marshal(ProbeReport{State: ProbeDiscovered, Message: "m", Inventory: fullInventory()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, "")
	f.Add([]byte(`{"state":"installed"}`), "installed")
	f.Add([]byte(`{"inventory":{"interfaces":[{"mac":"02:00:00:00:00:01","name":"a"}],"disks":[{}]}}`), "booted")
	f.Fuzz(func(t *testing.T, raw []byte, state string) {
		r, err := DecodeProbeReport(raw, ProbeState(state))
		if err != nil {
			if CodeOf(err) != CodeInvalid {
				t.Fatal(err)
			}
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := DecodeProbeReport(again, r.State); err != nil && len(again) <= MaxProbeReport {
			t.Fatalf("%+v is not taken again: %v", back, err)
		}
	})
}
