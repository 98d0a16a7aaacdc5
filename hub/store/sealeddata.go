package store

import "rackboot/protocol/message"

// SealedEnv is the boot environment of a configuration as it was sealed for one key of
// one agent. It is kept, because sealing again would give other bytes.
type SealedEnv struct {
	Config   string `json:"config"`
	OwnerUID string `json:"ownerUID"`
	Server   string `json:"server"`
	Agent    string `json:"agent"`
	Key      string `json:"key"` // sealbox.ID of the agent's key
	message.EnvIntent
	Body     []byte `json:"-"`
	Revision uint64 `json:"-"` // for compare-and-set; 0 creates
}

// SealedIgnition is the user data of a boot configuration as it was sealed for one key
// of one agent. It is kept, because sealing again would give other bytes.
type SealedIgnition struct {
	Config   string `json:"config"`
	OwnerUID string `json:"ownerUID"`
	Server   string `json:"server"`
	Agent    string `json:"agent"`
	Key      string `json:"key"` // sealbox.ID of the agent's key
	message.IgnitionIntent
	Body     []byte `json:"body"`
	Revision uint64 `json:"-"` // for compare-and-set; 0 creates
}

// Sealed is a BMC's credentials as they were sealed for one key of one agent. They are
// kept, because sealing again would give other bytes and so another document.
type Sealed struct {
	BMC   string `json:"bmc"`
	Agent string `json:"agent"`
	Key   string `json:"key"` // sealbox.ID of the agent's key
	message.SealedCredentials
	Revision uint64 `json:"-"` // for compare-and-set; 0 creates
}
