package wire

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func at(second int) time.Time {
	return time.Date(2026, 11, 20, 10, 0, second, 123_456_789, time.UTC)
}

// bareShard is a full shard as a hub sends it.
func bareShard(servers int) *message.RackDoc {
	doc := &message.RackDoc{
		Head: protocol.Head{Epoch: 1, Version: 42}, Agent: "rack-1", Term: 3, IssuedAt: at(0), Shards: 1,
		Rack: &message.RackIntent{
			Name: "rack-1", SoftTimeout: 3 * time.Minute, SettleWindow: 5 * time.Second, PollInterval: 15 * time.Second,
			Segments: []resource.SegmentIntent{{
				Name: "boot", Prefix: netip.MustParsePrefix("10.7.0.0/24"),
				PoolFrom: netip.MustParseAddr("10.7.0.100"), PoolTo: netip.MustParseAddr("10.7.0.200"),
				Address: netip.MustParseAddr("10.7.0.1"), BaseURL: "http://10.7.0.1", LeaseTime: time.Hour,
			}},
		},
		Servers: []message.ServerIntent{},
	}
	for i := range servers {
		name := fmt.Sprintf("server-%02d", i)
		doc.Servers = append(doc.Servers, message.ServerIntent{
			Server: name, UID: "01hzzzzzzzzzzzzzzzzzzzzz" + fmt.Sprintf("%02d", i),
			BMC: message.BMCIntent{
				Name: "bmc-" + name, Address: fmt.Sprintf("https://10.8.0.%d", i+1),
				CredentialsRef: "local:factory", Fingerprint: "sha256:" + strings.Repeat(fmt.Sprintf("%02x", i), 32),
			},
			SystemURI: "/redfish/v1/Systems/1", Segment: "boot", BootMAC: fmt.Sprintf("52:54:00:00:00:%02x", i),
			UUID:         fmt.Sprintf("4c4c4544-0000-1000-8000-0000000000%02x", i),
			Architecture: "amd64", Owner: resource.Owner{Name: "db-" + name, UID: "01j0000000000000000000000" + fmt.Sprint(i%10)}, Power: resource.WantOn,
			Boot: &message.BootIntent{
				Owner: resource.Owner{Kind: resource.PurposeClaim, Name: "db-" + name, UID: "01j0000000000000000000000" + fmt.Sprint(i%10)},
				GrantedBoot: resource.GrantedBoot{Generation: 1, BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootPxe, Boot: resource.BootHdd}, Image: resource.Image{
					Reference: "registry.example/os:1", Digest: "sha256:" + strings.Repeat("ab", 32), Architecture: "amd64",
					Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: "sha256:" + strings.Repeat("cd", 32), Size: 62 << 20, MediaType: "application/vnd.rackboot.uki"}},
				}}},
			},
		})
	}
	return doc
}

func grant() *message.Grant {
	return &message.Grant{
		OwnerUID: "01j3", Generation: 1, Server: "server-01", ServerUID: "01hz", ImageDigest: "sha256:" + strings.Repeat("ab", 32),
		FirstBoot: resource.FirstBootUefiHTTP, MaxAttempts: 3, IssuedAt: at(0),
	}
}
