package resource

import "time"

// BootSeen is what the hub has seen of the boots of a claim's server, and ordered. It goes
// over to the configuration that takes the place of another, and all its times are of the
// hub's clock.
type BootSeen struct {
	// Booted is the last boot that was proved, Failed the last that was given up.
	Booted *SeenBoot    `json:"booted,omitempty"`
	Failed *SeenBoot    `json:"failed,omitempty"`
	Order  *RolloutTask `json:"order,omitempty"`
}

// SeenBoot is one boot.
type SeenBoot struct {
	Attempt    string `json:"attempt,omitempty"` // the agent's name of it
	Generation uint64 `json:"generation,omitempty"`
	// Image is the digest of the image, Data that of the user data of a group; empty where
	// the claim has its own, or it is not known.
	Image  string    `json:"image,omitempty"`
	Data   string    `json:"data,omitempty"`
	At     time.Time `json:"at"` // when it was seen, not when it was
	Reason string    `json:"reason,omitempty"`
}

// Value is what was booted; empty if it is not known.
func (b *SeenBoot) Value() string {
	if b == nil {
		return ""
	}
	return BootValue(b.Image, b.Data)
}

// BootValue is what a server boots, the same for the same; empty without an image.
func BootValue(image, data string) string {
	if image == "" || data == "" {
		return image
	}
	return image + " " + data
}

// RolloutTask is an order of a roll-out, as it was recorded. Kind and At name it.
type RolloutTask struct {
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`
	// Installs says that the configuration was replaced for it, and the disk is lost.
	Installs bool `json:"installs,omitempty"`
	// Request is the reboot that was asked for; empty is that it is still to be.
	Request string `json:"request,omitempty"`
	Tries   int    `json:"tries,omitempty"` // reboots that were refused, or not done in time
}
