package boot

import (
	"cmp"

	"rackboot/netboot"
	"rackboot/netboot/chain"
	"rackboot/netboot/iso"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
)

// configISO makes the image that tells a system about its boot: where to report, and what
// the kernel's arguments of a network boot would be. User data is in it where what the BMC
// fetches is private; else the arguments say where it is fetched by token. The same boot
// gives the same bytes.
func (b *segment) configISO(server string, e indexed) ([]byte, error) {
	const op = "make config image"
	base, ok := b.room.HostBase(e.segment)
	if !ok || e.attempt.Order.Chain == nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "segment %s of %s is not served", e.segment, server)
	}
	a := e.attempt
	way, err := b.room.MediaWay(message.ServerIntent{BMC: message.BMCIntent{Address: e.bmc}, Segment: e.segment})
	if err != nil {
		return nil, err
	}
	if a.Private != "" && !way.Private { // the agent's file was changed since the boot began
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "the boot of %s has a private token, and others read what its BMC fetches", server)
	}
	data, err := b.configData(server, e, way)
	if err != nil {
		return nil, err
	}
	defer clear(data)
	token := cmp.Or(a.Private, a.Token)
	c := a.Chain(token)
	c.Ignition = c.Ignition && data == nil
	files := []iso.File{
		{Name: protocol.ConfigURL, Content: []byte(netboot.BootURL(base, token, "") + "\n")},
		{Name: protocol.ConfigArguments, Content: []byte(chain.Arguments(c, base, token) + "\n")},
	}
	if data != nil {
		files = append(files, iso.File{Name: protocol.ConfigIgnition, Content: data})
	}
	return iso.Write(protocol.ConfigLabel, files, a.At)
}

// configData is the user data that goes into the config image; nil for none. That it may
// have been given is on disk before its first byte is sent.
func (b *segment) configData(server string, e indexed, way Way) ([]byte, error) {
	a := e.attempt
	if a.Order.Ignition == nil || !way.Private {
		return nil, nil
	}
	if !b.room.cfg.Servers.Has(server) {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "make config image", "%s has no loop yet", server)
	}
	if !a.Marks.Given && a.Open() {
		if err := b.room.cfg.Servers.Fold(server, decide.Event{UserData: decide.IgnitionGive, Token: a.Token, At: b.room.cfg.Clock()}); err != nil {
			return nil, err
		}
		b.room.cfg.Crash.At("agent.userdata.onmedium")
	}
	return b.room.cfg.Files.OpenUserData(server, a.Order.OwnerUID, *a.Order.Ignition)
}
