package boot

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/files"
	"rackboot/agent/reports"
	"rackboot/agent/store"
	"rackboot/agent/tpm"
	"rackboot/agent/trace"
	"rackboot/netboot"
	"rackboot/netboot/attest"
	"rackboot/netboot/attest/enrol"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/state"
	"rackboot/state/blob"
)

// Config is what the room is made of.
type Config struct {
	Agent    string // id
	Segments []LocalSegment
	// Loaders are the folders with boot loaders, by architecture in Go's words; none boots
	// UKIs only.
	Loaders map[string][]string
	// Certificates are those of HTTPS listeners; needed where a segment has one.
	Certificates netboot.Certificates
	// Guarded reports that what discards disks needs an approval.
	Guarded bool

	Index   *Index
	Store   *store.Store
	Guard   Guard
	Blobs   *blob.Store
	Files   *files.Room
	Reports *reports.Room
	Traces  *trace.Room
	Servers Servers
	Finder  Finder
	TPMs    TPMs
	NewID   func() string // makes the key of this run's tokens of stop images

	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
}

// Guard says whether the agent is in guard mode, in which no boot begins.
type Guard interface {
	On() bool
	// Coming are holds of a server that are guarded and could not be recorded.
	Coming(server string) [][]byte
}

// Servers are the loops of servers, which are told what boot clients do.
type Servers interface {
	// Has reports whether a server has a loop.
	Has(server string) bool
	// Saw hands evidence to a server's next step. It does not wait, and does nothing where
	// the server has no loop.
	Saw(server string, e decide.Event)
	// Fold puts one piece of evidence on disk, before it is answered.
	Fold(server string, e decide.Event) error
	// KeepImage puts a report of the server's image on disk, of the boot of an owner.
	KeepImage(server, owner string, r protocol.ProbeReport, at time.Time) error
	// Wake makes the loop of a server decide soon, and starts it if the server has none.
	Wake(server string)
	// LookAtAll makes all loops decide soon.
	LookAtAll()
}

// TPMs enrols the TPMs of servers, and hears what they prove; a refusal is a code.
type TPMs interface {
	Offer(server, token string, o enrol.Offer) (enrol.Challenge, tpm.Refusal, error)
	Answer(server, token string, a enrol.Answer) (tpm.Refusal, error)
	// Ask makes the nonce of a boot.
	Ask(server, token string) (attest.Ask, error)
	// Prove takes evidence, Doubt that none can be taken, and Proved says what came of it.
	Prove(server, token string, ev attest.Evidence, x attest.Expectation) (attest.Code, error)
	Doubt(server, token string, why attest.Code)
	// Void forgets what a server has proved: it boots anew.
	Void(server string)
	Proved(server, token string) (attested bool, why attest.Code)
}

// Finder is told of addresses that were leased: a BMC may be behind one.
type Finder interface{ Leased(l netboot.Lease) }
