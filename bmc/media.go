package bmc

import (
	"context"

	"rackboot/protocol"
)

// Media is an image that a BMC mounts for its host.
type Media struct {
	URL      string // fetched by the BMC itself; without ? and =, which some refuse
	Username string // usually empty
	Password string
}

// String hides the credentials, and the URL, whose path may carry a token.
func (Media) String() string { return "[media]" }

// GoString hides them from %#v.
func (Media) GoString() string { return "bmc.Media{hidden}" }

// MediaDriver mounts virtual media. Mounting does not make the host boot it.
type MediaDriver interface {
	// InsertMedia ejects what the slot holds, inserts the image and reads back. It
	// fails with unsupported if the BMC has no slot that can take a CD image.
	InsertMedia(ctx context.Context, m Media) error
	// EjectMedia empties every slot for CD images that holds something.
	EjectMedia(ctx context.Context) error
}

// RestorePolicer changes what a server does when mains power returns. To
// restore, set what SetRestorePolicy returned.
type RestorePolicer interface {
	// RestorePolicy reads the policy; empty is one that no word of the standard
	// says. It is unsupported where SetRestorePolicy is.
	RestorePolicy(ctx context.Context) (protocol.RestorePolicy, error)
	// SetRestorePolicy writes the policy, reads it back and returns the one before.
	// It is unsupported where the policy is a BIOS setting, which needs a reset.
	SetRestorePolicy(ctx context.Context, want protocol.RestorePolicy) (before protocol.RestorePolicy, err error)
}

// EventSource tells that a BMC has something to say. Events are never evidence:
// they only make the next read come sooner.
type EventSource interface {
	// Events calls wake for each event until the stream ends, which is always an
	// error, or ctx does. The caller reconnects. wake must not block.
	Events(ctx context.Context, wake func()) error
}
