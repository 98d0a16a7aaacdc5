package files

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/store"
	"rackboot/netboot/mirror"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/blob"
)

// Config is what the room is made of.
type Config struct {
	Store *store.Store
	Blobs *blob.Store
	// Puller brings the images of registries.
	Puller Puller
	// UserData fetches sealed user data from the hub; nil has none.
	UserData UserData
	// Bundles fetches boot environments from the hub; nil has none.
	Bundles Bundles
	// ISOSource gives uploaded files of the hub; nil has none.
	ISOSource ISOSource
	Limits    ISOLimits
	// Mirror is the proxy to package repositories; nil has none.
	Mirror *mirror.Mirror
	// Folder is a folder of the site whose files every boot environment may serve; empty is
	// none.
	Folder string
	// Secrets opens what the hub seals for the agent; nil refuses it.
	Secrets Secrets
	Boots   Boots
	Servers Servers

	Clock      state.Clock
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
}

// Boots is what this room asks about the boots that are served.
type Boots interface {
	// Segment returns what the rack's document says of a segment.
	Segment(name string) (resource.SegmentIntent, bool)
	// Serves reports whether a server has an open network boot that is served of a
	// generation of its environment.
	Serves(server, generation string) bool
}

// Servers is told when files have come, or cannot come. Neither method waits.
type Servers interface {
	// Look makes the loop of one server decide soon.
	Look(server string)
	// LookAtAll makes the loops of all servers decide soon.
	LookAtAll()
}

// Puller brings every artefact of an image into the blob store, verified.
type Puller interface {
	Pull(ctx context.Context, image resource.Image) error
}

// UserData fetches sealed user data from the hub.
type UserData interface {
	// Fetch brings what has the digest. Whoever calls it checks that it has.
	Fetch(ctx context.Context, sealed string) ([]byte, error)
}

// Bundles fetches sealed bundles of boot environments from the hub.
type Bundles interface {
	// FetchEnv brings what has the digest. Whoever calls it checks that it has.
	FetchEnv(ctx context.Context, sealed string) ([]byte, error)
}

// ISOSource gives the content of uploaded files.
type ISOSource interface {
	// Fetch reads at most n bytes of a content from an offset on. It may end early without
	// an error; the context bounds all of it.
	Fetch(ctx context.Context, digest string, offset, n int64) (io.ReadCloser, error)
}

// ISOLimits say how uploaded files are fetched.
type ISOLimits struct {
	// Bandwidth bounds all fetches together, in bytes per second; 0 does not.
	Bandwidth int64
	// Spread bounds the random wait before each fetch is begun or gone on with, so that
	// racks that are told of a file together do not ask together; 0 is no wait.
	Spread time.Duration
}

// Secrets opens what the hub seals for the agent. No error has any of it.
type Secrets interface {
	// OpenIgnition opens user data that was sealed for a server and the UID of its claim.
	OpenIgnition(server, claim string, ref resource.IgnitionRef, sealed []byte) ([]byte, error)
	// OpenEnv opens a boot environment's bundle that was sealed for a server and the UID of
	// its owner.
	OpenEnv(server, claim, bundle string, sealed []byte) ([]byte, error)
}
