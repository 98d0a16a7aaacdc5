package message

import "rackboot/protocol/resource"

// HubFiles are the digests of the files that the agent of the server gets from the hub for
// its boot: uploaded ones that its boot environment names, and those of an image of the
// catalogue, also of the one that it may return to.
func (b BootIntent) HubFiles() (digests []string) {
	if b.Env != nil {
		for _, f := range b.Env.ISOs {
			digests = append(digests, f.Digest)
		}
	}
	for _, boot := range b.All() {
		if boot.Image.Source == resource.ImageFromHub {
			for _, a := range boot.Image.Artefacts {
				digests = append(digests, a.Digest)
			}
		}
	}
	return digests
}
