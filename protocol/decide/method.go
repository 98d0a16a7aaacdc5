package decide

import (
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// method is a way to boot from the network, and what is particular about it. What no row has is
// the same for all: an override for once, a power-on, files below a token, a report.
type method struct {
	first  resource.FirstBoot  // as boot policies name it
	target protocol.BootTarget // of the override
	window window              // which boot clients are answered meanwhile
	medium bool                // the BMC has an image in a drive, inserted before and ejected after
	url    bool                // the BMC can be given the URL of the first file
}

var methods = []method{
	{first: resource.FirstBootUefiHTTP, target: protocol.TargetUefiHTTP, window: windowHTTP, url: true},
	{first: resource.FirstBootPxe, target: protocol.TargetPxe, window: windowTFTP},
	{first: resource.FirstBootVirtualMedia, target: protocol.TargetCd, window: windowMedia, medium: true},
}

// methodOf is the method of a target. A target that has none, such as the disk, has nothing
// particular about it.
func methodOf(target protocol.BootTarget) method {
	if i := slices.IndexFunc(methods, func(m method) bool { return m.target == target }); i >= 0 {
		return methods[i]
	}
	return method{window: windowHTTP}
}

// methodFor says whether a server can be booted by a method, as far as its BMC says. What the BMC does
// not say is tried. The first row that fits decides.
//
//	medium | refused | target | instead | byURL | place | is
//	yes    | yes     | *      | *       | *     | *     | cannot
//	*      | *       | no     | *       | *     | *     | absent
//	*      | *       | off    | no      | *     | *     | off
//	no     | *       | *      | *       | yes   | no    | without
//	*      | *       | *      | *       | *     | *     | fits
//
// refused is that the BMC inserts no images, byURL that the server is booted by a URL only (reach uri),
// and place one for it. instead is that firmware which has the method switched off may boot by the other
// one, and that is not off.
func methodFor(m method, o protocol.Offers, refused, byURL, instead bool) methodIs {
	switch is := o.Boot(m.target).Is; {
	case m.medium && refused:
		return methodCannot
	case is == protocol.OfferedNo:
		return methodAbsent
	case is == protocol.OfferedOff && !instead:
		return methodOff
	case m.url && byURL && o.BootURI == protocol.OfferedNo:
		return methodNoURI
	}
	return methodFits
}

// instead says whether firmware may boot by the other method of the network, as far as it is known.
func (m method) instead(o protocol.Offers) bool {
	other, has := map[protocol.BootTarget]protocol.BootTarget{
		protocol.TargetPxe: protocol.TargetUefiHTTP, protocol.TargetUefiHTTP: protocol.TargetPxe,
	}[m.target]
	is := o.Boot(other).Is
	return has && is != protocol.OfferedNo && is != protocol.OfferedOff
}

// methodNamed is the method that a boot policy names, and whether there is one.
func methodNamed(first resource.FirstBoot) (method, bool) {
	if i := slices.IndexFunc(methods, func(m method) bool { return m.first == first }); i >= 0 {
		return methods[i], true
	}
	return method{}, false
}

// byMedium says whether a target boots an image in a drive of the BMC.
func byMedium(target protocol.BootTarget) bool { return methodOf(target).medium }

// askedFor are the methods by which firmware boots whose client asks so. iPXE in the ROM of an
// interface takes the place of PXE.
var askedFor = map[protocol.ClientClass]protocol.BootTarget{
	protocol.ClassHTTPClient: protocol.TargetUefiHTTP,
	protocol.ClassPXEClient:  protocol.TargetPxe,
	protocol.ClassIPXE:       protocol.TargetPxe,
}
