package sim

import (
	"net/http"

	"rackboot/bmc/sim/tree"
)

// hardwarePresets are machines that tell of themselves, and of what is behind them, in ways that
// mislead who reads them. The captured trees are those that come with NVIDIA's libredfish.
func hardwarePresets() []Personality {
	return []Personality{
		quirk("GracePaths", "NVIDIA GB200 (captured tree): device paths begin with a vendor's GUID that every machine has, and the BMC's NIC is behind USB", tree.Grace(), nil),
		quirk("GH200Settings", "NVIDIA GH200 (captured tree): the settings hold Hdd Continuous and an order of 32, and list no targets", tree.GH200(), func(p *Personality) {
			p.Boot.At = WriteSettings
		}),
		quirk("GH200Baseboard", "NVIDIA GH200 (captured tree): the baseboard lists override targets too, and answers 503 for minutes", tree.GH200(), func(p *Personality) {
			p.Wire.Unready = tree.BaseboardURI
		}),
		quirk("BlueFieldCard", "NVIDIA BlueField-3 (captured tree): tmfifo 00:1a:ca:ff:ff:01 on every card, and no architecture", tree.BlueFieldCard(), nil),
		quirk("DGXNames", "NVIDIA DGX H100 (captured tree): addresses in names, and the BMC's USB NIC among the boot options", tree.DGXNames(), nil),
		quirk("LenovoPxeOff", "Lenovo SR670 V2 XCC (captured tree): Pxe is offered, PXE is off and HTTP on: an order of Pxe is answered by HTTP", tree.LenovoHTTP(), func(p *Personality) {
			p.Boot.PxeNeeds = []Attribute{{"NetworkStackSettings_IPv4PXESupport", "Enabled"}}
		}),
		quirk("SupermicroManagerLog", "Supermicro 821GE (captured tree): the power log is the manager's, Managers/1/LogServices/Log1", tree.SupermicroManagerLog(), nil),
		quirk("DellDPUs", "Dell iDRAC9 7.10 with several DPUs (captured tree): HTTP device 1 is bound to NIC.Slot.5-1, PXE device 1 to another", tree.DellDPUs(), nil),
		quirk("SushyTools", "OpenStack sushy-tools, fake driver: Disabled alone is 400 in plain text, Once is Continuous, UefiHttp is Pxe, no URI is None", tree.Sushy(), func(p *Personality) {
			p.Boot.NeedTarget, p.Boot.StoreEnabled, p.Boot.StoreTarget = true, "Continuous", map[string]string{"UefiHttp": "Pxe"}
		}),
		quirk("SessionsBadRequest", "CreateLimitReachedForResource of the Base registry with 400", nil, func(p *Personality) {
			p.Session.Max, p.Session.FullStatus, p.Session.FullID = 1, http.StatusBadRequest, "Base.1.13.CreateLimitReachedForResource"
		}),
	}
}
