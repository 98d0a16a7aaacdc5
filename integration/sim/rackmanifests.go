package sim

import (
	"bytes"
	"encoding/json"

	"rackboot/protocol/resource"
	"rackboot/state/file"
)

// write writes the manifests of the machines: JSON, which rackctl apply reads as YAML. A
// reader sees the file whole.
func (c RackManifests) write(machines []MachineConfig, addresses []MachineAddress) error {
	if c.File == "" {
		return nil
	}
	var out bytes.Buffer
	for i, a := range addresses {
		bmc := &resource.BMC{Spec: resource.BMCSpec{
			RackRef: resource.Ref{Name: c.Rack}, Address: a.Address, CredentialsRef: c.CredentialsRef, TLS: resource.BMCTLS{Fingerprint: a.Fingerprint},
		}}
		bmc.Metadata.Name = a.Name
		server := &resource.Server{Spec: resource.ServerSpec{
			BMCRef: resource.Ref{Name: a.Name}, SegmentRef: resource.Ref{Name: c.Segment}, BootMAC: machines[i].MAC,
		}}
		server.Metadata.Name, server.Metadata.Labels = a.Name, c.Labels
		for _, o := range []resource.Object{bmc, server} {
			o.Default()
			raw, err := json.Marshal(o)
			if err != nil {
				return err
			}
			out.WriteString("---\n")
			out.Write(raw)
			out.WriteByte('\n')
		}
	}
	return file.Replace(c.File, out.Bytes(), 0o600)
}
