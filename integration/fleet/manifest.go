package fleet

import (
	"context"
	"fmt"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// manifests are the resources of rack i: a segment, and a BMC and a Server for each of its servers. Nobody has the
// addresses in them.
func (c *Config) manifests(i int) (objs []resource.Object) {
	rack := rackName(i)
	put := func(o resource.Object, name string) {
		o.Head().Metadata.Name = name
		o.Default()
		objs = append(objs, o)
	}
	put(&resource.Rack{Spec: resource.RackSpec{Description: "no rack: rackboot-sim fleet", SettleWindow: protocol.Duration(c.Settle)}}, rack)
	net := fmt.Sprintf("10.%d.%d", i>>8, i&255)
	put(&resource.Segment{Spec: resource.SegmentSpec{
		RackRef: resource.Ref{Name: rack}, Prefix: net + ".0/24", Pool: resource.Pool{From: net + ".100", To: net + ".199"},
		Address: net + ".254", BaseURL: "http://" + net + ".254",
	}}, rack)
	for j := range c.Servers {
		name := serverName(rack, j)
		put(&resource.BMC{Spec: resource.BMCSpec{
			RackRef: resource.Ref{Name: rack}, Address: fmt.Sprintf("https://%s.%d", net, j+1), CredentialsRef: "local:fleet",
			TLS: resource.BMCTLS{Fingerprint: "sha256:" + strings.Repeat("0", 64)},
		}}, name)
		put(&resource.Server{Spec: resource.ServerSpec{
			BMCRef: resource.Ref{Name: name}, SegmentRef: resource.Ref{Name: rack}, BootMAC: fmt.Sprintf("02:fe:%02x:%02x:00:%02x", i>>8, i&255, j+1),
		}}, name)
	}
	return objs
}

// atOnce bounds the resources of one request: the hub stores so many whole or not at all.
const atOnce = 1000

// claims are those of the servers of rack i.
func (c *Config) claims(i int) (objs []resource.Object) {
	for j := range c.Servers {
		name := serverName(rackName(i), j)
		claim := &resource.Claim{Spec: resource.ClaimSpec{
			ServerRef: &resource.Ref{Name: name}, Power: resource.WantOn, Image: c.Image,
			BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd},
		}}
		claim.Metadata.Name = name
		claim.Default()
		objs = append(objs, claim)
	}
	return objs
}

// apply makes resources of racks, and returns how many there are.
func (c *Config) apply(ctx context.Context, racks []int, of func(i int) []resource.Object) (n int, err error) {
	var objs []resource.Object
	for _, i := range racks {
		more := of(i)
		if len(objs)+len(more) > atOnce {
			if _, err := c.Hub.Client.Objects.Apply(ctx, objs, false); err != nil {
				return n, err
			}
			n, objs = n+len(objs), nil
		}
		objs = append(objs, more...)
	}
	_, err = c.Hub.Client.Objects.Apply(ctx, objs, false)
	return n + len(objs), err
}
