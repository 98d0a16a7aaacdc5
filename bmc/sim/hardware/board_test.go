package hardware

import (
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rackboot/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long what must come may take on a machine that has much else to do.
const patience = time.Minute

// recordingBoard is a BMC with an override for once.
type recordingBoard struct {
	mu   sync.Mutex
	next protocol.BootTarget
	seen []string

	drives []*Medium
}

func (b *recordingBoard) NextBoot() protocol.BootTarget {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.next
}

func (b *recordingBoard) BootConsumed(target protocol.BootTarget) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, "consumed "+string(target))
	b.next = protocol.TargetNone
}

func (b *recordingBoard) BootURI() string { return "" }

func (b *recordingBoard) Drives() []*Medium { return b.drives }

func (b *recordingBoard) MachineChanged(s State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, string(s))
}

func (b *recordingBoard) list() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

func (b *recordingBoard) await(t *testing.T, want string) {
	t.Helper()
	for end := time.Now().Add(patience); !slices.Contains(b.list(), want); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %q in %q", want, b.list())
		}
	}
}
