package bmc

import (
	"context"

	"rackboot/protocol"
)

// Media are the images of one boot. The BMC fetches them itself: their URLs are without ?
// and =, which some refuse, and end in .iso, which some insist on.
type Media struct {
	Boot   string // that firmware boots
	Config string // for a second drive; empty for none
	// Own is what the URLs of all images of ours begin with, of whatever boot. What a drive
	// holds besides is somebody else's.
	Own string
}

// String hides the URLs, whose paths carry tokens.
func (Media) String() string { return "[media]" }

// GoString hides them from %#v.
func (Media) GoString() string { return "bmc.Media{hidden}" }

// Inserted says in which drives images are, by path. Config is empty if none took it.
type Inserted struct {
	Boot   string
	Config string
}

// MediaDriver mounts virtual media. Mounting does not make the host boot it.
type MediaDriver interface {
	// InsertMedia ejects what is ours, inserts the images and reads back. What is inserted
	// already as wanted stays. It fails with conflict and [Occupied] if somebody else's
	// medium is in a drive that the host boots from, and with unsupported if the BMC has no
	// such drive. That no second drive takes the config image is no error.
	InsertMedia(ctx context.Context, m Media) (Inserted, error)
	// EjectMedia empties every drive that holds an image of ours, and reads back. own is as
	// in Media.
	EjectMedia(ctx context.Context, own string) error
}

// Occupied is in an error's chain when somebody else's medium is in a drive.
type Occupied struct {
	Drive string // its path
}

// Error says which drive.
func (o *Occupied) Error() string { return "somebody else's medium is in " + o.Drive }

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
