package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// biosPresets are about BIOS attributes and their jobs.
func biosPresets() []Personality {
	return []Personality{
		quirk("DellOwnJob", "Dell iDRAC9: settings with OnReset make the job, a second one is refused; quads #726", tree.Dell(), func(p *Personality) {
			p.BIOS.OwnJob = true
		}),
		quirk("DellSecureBootConflict", "Dell: SecureBoot and then Bios/Settings is SYS011; bmc-toolbox/bmclib #467", tree.Dell(), func(p *Personality) {
			p.BIOS.Conflict = true
		}),
		quirk("DellJobHidden", "Dell: a new job is 404 for a while; OpenStack ironic asks three times", tree.Dell(), func(p *Personality) {
			p.BIOS.JobHidden = 20 * time.Second
		}),
		quirk("DellHTTPDevice", "Dell: HttpDev1 attributes are read only until HttpDev1EnDis is Enabled; iDRAC-Redfish-Scripting #306", tree.Dell(), func(p *Personality) {
			p.BIOS.NeedParts = []Attribute{{"HttpDev1", "HttpDev1EnDis=Enabled"}}
		}),
		quirk("DellHTTPTLS", "Dell iDRAC10 R6715: HttpDev1TlsMode is OneWay, plain http fails with UEFI0417; bmc-toolbox/bmclib #470", tree.DellTLS(), func(p *Personality) {
			p.Boot.NetworkNeeds, p.Boot.NetworkNeedID = []Attribute{{"HttpDev1TlsMode", "None"}}, "UEFI0417"
		}),
		quirk("SupermicroHTTPOff", "Supermicro 821GE (captured tree): UefiHttp is listed while IPv4HTTPSupport is Disabled; libredfish supermicro.rs", tree.Supermicro(), func(p *Personality) {
			p.Boot.NetworkNeeds, p.Boot.NetworkNeedID = []Attribute{{"IPv4HTTPSupport_00F5", "Enabled"}}, "no HTTP boot option"
		}),
		quirk("SupermicroRestore", "Supermicro 821GE (captured tree): the restore policy is a BIOS attribute", tree.Supermicro(), func(p *Personality) {
			p.Power.RestoreAttribute = "RestoreonACPowerLoss_0035"
		}),
	}
}
