package resource

// BootSpec is what boots, and how: the same in a configuration and on its way to an agent.
type BootSpec struct {
	Image      Image      `json:"image"`
	BootPolicy BootPolicy `json:"bootPolicy"`
	// Grant is the signed permission for the first boot, or for all network boots.
	Grant []byte `json:"grant,omitempty"`
}

// GrantedBoot is a boot of one configuration, as agents have it.
type GrantedBoot struct {
	Generation uint64 `json:"generation"` // of the configuration
	BootSpec
	// GrantFor is the incarnation that the grant was first given to. Another one
	// cannot know whether it was used, and does not use it (P4).
	GrantFor string `json:"grantFor,omitempty"`
}
