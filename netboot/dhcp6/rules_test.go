package dhcp6

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func kinds() []string {
	return []string{typeSolicit, typeRequest, typeConfirm, typeRenew, typeRebind, typeRelease, typeDecline, typeInform}
}

func TestValidRule(t *testing.T) {
	doctable.Of(t, "validrule.go", "validRule").HoldOne(t, [][]string{kinds(), doctable.YesNo(), doctable.Words(toAnybody, toUs, toOther), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return string(validRule(in[0], in[1] == "yes", addressee(in[2]), in[3] == "yes", in[4] == "yes"))
	})
}

func TestLeaseRule(t *testing.T) {
	doctable.Of(t, "leaserule.go", "leaseRule").HoldOne(t, [][]string{
		{typeRequest, typeRenew, typeRebind},
		doctable.Words(placeNone, placeHere, placeLink, placeOff),
		doctable.Words(leasing.HoldNothing, leasing.HoldSame, leasing.HoldOther, leasing.HoldForeign),
	}, func(in []string) string { return string(leaseRule(in[0], place(in[1]), leasing.Holding(in[2]))) })
}

func TestClassRule(t *testing.T) {
	doctable.Of(t, "class.go", "classRule").HoldOne(t, [][]string{
		doctable.YesNo(), doctable.Words(saidHTTP, saidPXE, saidOther), doctable.Words(protocol.FirmwareUEFI, protocol.FirmwareUBoot, protocol.FirmwareBIOS),
	}, func(in []string) string {
		return string(classRule(in[0] == "yes", said(in[1]), protocol.BootFirmware(in[2])))
	})
}

func TestFormRule(t *testing.T) {
	doctable.Of(t, "bootdata.go", "formRule").HoldOne(t, [][]string{doctable.Words(protocol.AnswerActions()...), doctable.Words(protocol.ClientClasses()...), doctable.YesNo()}, func(in []string) string {
		return string(formRule(protocol.AnswerAction(in[0]), protocol.ClientClass(in[1]), in[2] == "yes"))
	})
}

func TestRouterRule(t *testing.T) {
	doctable.Of(t, "routers.go", "routerRule").HoldOne(t, [][]string{
		doctable.Words(resource.IPv6Stateful, resource.IPv6Stateless, resource.IPv6None), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) string {
		return string(routerRule(resource.IPv6Mode(in[0]), in[1] == "yes", in[2] == "yes", in[3] == "yes"))
	})
}
