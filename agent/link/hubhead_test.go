package link

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
	"rackboot/state/statetest"
)

// An agent keeps what the hub said of its store, also over a restart. A hub that has less by now ends
// nothing: its documents are not applied, and it is given its own word back. One that an operator has
// restored is followed.
func TestHubThatWasPutBack(t *testing.T) {
	db := statetest.NewMemory()
	r := newRig(t, db, "first")
	told := func(store string, epoch, sequence uint64) []byte {
		t.Helper()
		sealed, err := wire.Seal(r.hub, wire.FactHubHead, message.HubHead{Store: store, Epoch: epoch, Sequence: sequence, At: r.now})
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	nonce := 0
	answered := func(by *rig, head []byte) {
		t.Helper()
		nonce++
		by.now = by.now.Add(time.Minute)
		by.answers(message.Sync{Nonce: string(rune('a' + nonce)), Fence: message.Fence{Number: 1, Hub: "hub"}, Heads: map[string]protocol.Head{}, HubHead: head})
	}
	r.room.Connected(r)
	r.hellos()
	ten := told("one", 1, 10)
	answered(r, ten)

	again := newRig(t, db, "second")
	again.now = r.now
	again.room.Connected(again)
	if h := again.hellos(); len(h) != 1 || string(h[0].HubHead) != string(ten) {
		t.Fatalf("it says %+v", h)
	}
	answered(again, told("one", 1, 9))
	if c := again.conditions(); !strings.Contains(c, "HubBehind") {
		t.Errorf("conditions %s", c)
	}
	again.says(message.LeafHold, message.HoldDoc{})
	if again.heard.holds != 0 {
		t.Error("a document of a hub that has less is applied")
	}
	again.now = again.now.Add(time.Minute)
	if h := again.hellos(); len(h) != 1 || string(h[0].HubHead) != string(ten) {
		t.Errorf("it does not give the hub's word back: %+v", h)
	}
	eleven := told("one", 1, 11)
	for _, head := range [][]byte{eleven, told("two", 2, 3)} {
		answered(again, head)
		if c := again.conditions(); strings.Contains(c, "HubBehind") {
			t.Errorf("conditions %s", c)
		}
		if kept, _ := again.room.hub.kept(); string(kept) != string(head) {
			t.Errorf("kept is %q", kept)
		}
	}
	again.says(message.LeafHold, message.HoldDoc{})
	if again.heard.holds != 1 {
		t.Errorf("%d documents are applied", again.heard.holds)
	}
	forged, err := wire.Seal(wire.NewSigner(key(7)), wire.FactHubHead, message.HubHead{Store: "two", Epoch: 2, Sequence: 900})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := again.room.hub.kept()
	answered(again, forged)
	if kept, _ := again.room.hub.kept(); string(kept) != string(before) {
		t.Error("a word that the hub did not sign is kept")
	}
}
