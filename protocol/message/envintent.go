package message

import "rackboot/protocol/resource"

// EnvIntent says which boot environment a server boots, and what it is made of.
type EnvIntent struct {
	Name string `json:"name"`
	// Bundle is the digest of the EnvBundle's JSON; Sealed and Size are digest and length,
	// in bytes, of what the agent fetches: that JSON sealed for it. Sealed is empty until
	// it was.
	Bundle string `json:"bundle"`
	Sealed string `json:"sealed,omitempty"`
	Size   int64  `json:"size,omitempty"`
	// ISOs are the uploaded files that the server may need, Images the OCI images.
	ISOs   []resource.EnvISO `json:"isos,omitempty"`
	Images []resource.Image  `json:"images,omitempty"`
}
