package resource

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"rackboot/protocol"
)

// EnvISO is an uploaded file.
type EnvISO struct {
	File   string `json:"file"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"` // bytes
	// Uploaded is the digest of what was uploaded, where that was packed again and Digest is
	// another one: checksums that environments name are of it.
	Uploaded string `json:"uploaded,omitempty"`
}

// Sum is the digest that the checksum of an environment is of.
func (i EnvISO) Sum() string {
	if i.Uploaded != "" {
		return i.Uploaded
	}
	return i.Digest
}

// EnvBundle is all that is needed to make the files that one server boots with, but for
// the agent's own addresses. The same resources give the same bundle.
type EnvBundle struct {
	BootEnv string      `json:"bootEnv"`
	UID     string      `json:"uid"`
	Spec    BootEnvSpec `json:"spec"`
	// Templates are the contents of the Templates that may be asked for, by name.
	Templates map[string]string `json:"templates,omitempty"`
	// Params are the sources of values, the first that has one wins.
	Params []EnvParams `json:"params,omitempty"`
	// Schemas are the described params by name.
	Schemas map[string]ParamSpec `json:"schemas,omitempty"`
	Machine EnvMachine           `json:"machine"`
	Purpose Purpose              `json:"purpose"`
	Owner   string               `json:"owner,omitempty"`
	// KernelArgs are the server's and the owner's, at the end of the kernel's arguments.
	KernelArgs string `json:"kernelArgs,omitempty"`
	// Ignition says that the owner gives user data.
	Ignition bool     `json:"ignition,omitempty"`
	ISOs     []EnvISO `json:"isos,omitempty"`
	// Images are resolved OCI images by the reference in the environment.
	Images []Image `json:"images,omitempty"`
}

// EnvParams are the params of one source.
type EnvParams struct {
	Source string         `json:"source"` // server, profile NAME, group NAME, profile global
	Values map[string]any `json:"values,omitempty"`
	// Secret names the values that are secret, in order: no command prints them.
	Secret []string `json:"secret,omitempty"`
	// Version is status.digest of their Secret. It is a keyed digest, so that who sees
	// that of the bundle cannot try guesses of what is secret in it.
	Version string `json:"version,omitempty"`
}

// The sources of params.
const (
	SourceServer  = "server"
	SourceProfile = "profile " // and its name
	SourceGroup   = "group "   // and its name
)

// The bounds of a bundle: of its JSON, and of what is sealed, which is compressed first,
// in bytes. The hub stores the latter as one value.
const (
	MaxEnvBundle = 1 << 20
	MaxSealedEnv = 240 << 10
)

// Encode is the one JSON of a bundle, and its digest, sha256:<hex>.
func (b EnvBundle) Encode() (content []byte, digest string, err error) {
	if content, err = json.Marshal(b); err != nil {
		return nil, "", protocol.Errorf(protocol.CodeInternal, "encode boot environment", "%w", err)
	}
	return content, fmt.Sprintf("sha256:%x", sha256.Sum256(content)), nil
}

// EnvMachine is what templates know of the server.
type EnvMachine struct {
	Name         string            `json:"name"`
	UID          string            `json:"uid"`
	UUID         string            `json:"uuid,omitempty"` // SMBIOS; UID if it is not known
	BootMAC      string            `json:"bootMAC"`
	MACs         []string          `json:"macs,omitempty"`
	Architecture string            `json:"architecture"`
	Rack         string            `json:"rack"`
	Segment      string            `json:"segment"`
	Labels       map[string]string `json:"labels,omitempty"`
}
