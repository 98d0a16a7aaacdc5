package dhcp6

import (
	"testing"

	"rackboot/netboot"
	"rackboot/protocol"
)

func kinds() []string {
	return []string{typeSolicit, typeRequest, typeConfirm, typeRenew, typeRebind, typeRelease, typeDecline, typeInform}
}

func TestValidRule(t *testing.T) {
	checkTable(t, "validrule.go", "validRule", [][]string{kinds(), yesno(), texts(toAnybody, toUs, toOther), yesno(), yesno()}, func(in []string) string {
		return string(validRule(in[0], in[1] == "yes", addressee(in[2]), in[3] == "yes", in[4] == "yes"))
	})
}

func TestLeaseRule(t *testing.T) {
	checkTable(t, "leaserule.go", "leaseRule", [][]string{
		{typeRequest, typeRenew, typeRebind},
		texts(placeNone, placeHere, placeLink, placeOff),
		texts(holdNothing, holdSame, holdOther, holdForeign),
	}, func(in []string) string { return string(leaseRule(in[0], place(in[1]), holding(in[2]))) })
}

func TestClassRule(t *testing.T) {
	checkTable(t, "class.go", "classRule", [][]string{
		yesno(), texts(saidHTTP, saidPXE, saidOther), texts(protocol.FirmwareUEFI, protocol.FirmwareUBoot, protocol.FirmwareBIOS),
	}, func(in []string) string {
		return string(classRule(in[0] == "yes", said(in[1]), protocol.BootFirmware(in[2])))
	})
}

func TestFormRule(t *testing.T) {
	checkTable(t, "bootdata.go", "formRule", [][]string{texts(protocol.AnswerActions()...), texts(protocol.ClientClasses()...), yesno()}, func(in []string) string {
		return string(formRule(protocol.AnswerAction(in[0]), protocol.ClientClass(in[1]), in[2] == "yes"))
	})
}

func TestRouterRule(t *testing.T) {
	checkTable(t, "routers.go", "routerRule", [][]string{
		texts(netboot.Service6Stateful, netboot.Service6Stateless, netboot.Service6None), yesno(), yesno(), yesno(),
	}, func(in []string) string {
		return string(routerRule(netboot.Service6Mode(in[0]), in[1] == "yes", in[2] == "yes", in[3] == "yes"))
	})
}
