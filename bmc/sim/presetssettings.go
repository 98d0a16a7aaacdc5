package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// settingsPresets are about overrides that are written elsewhere than to the
// system.
func settingsPresets() []Personality {
	const future = "Ami.1.0.OperationSupportedInFutureStateURI"
	ami := func(name, source string, change func(*Personality)) Personality {
		return quirk(name, source, tree.AMI(), func(p *Personality) {
			p.Boot.At, p.Boot.RefuseID, p.Boot.Pending = WriteSettings, future, true
			change(p)
		})
	}
	return []Personality{
		quirk("IDRAC10Settings", "Dell iDRAC10, R6715 1.20.80.50: the system refuses, its settings take it; bmc-toolbox/bmclib #461, stmcginnis/gofish #511", tree.IDRAC10(), func(p *Personality) {
			p.Boot.At = WriteSettings
		}),
		quirk("DellSettingsOrderOnly", "Dell R750 iDRAC9 7.10.30 (captured tree): the settings have no Target and Enabled; libredfish #75", tree.DellSettings(), nil),
		quirk("NokiaSettings", "Nokia: the settings have the override; OpenStack sushy, use-settingsobject", tree.Nokia(), func(p *Personality) {
			p.Boot.At = WriteSettings
		}),
		quirk("GB200Settings", "NVIDIA GB200 (captured tree): Target and Enabled in the settings, no Mode, no UefiHttp", tree.OpenBMC(), func(p *Personality) {
			p.Boot.At = WriteSettings
		}),
		quirk("BlueFieldTargets", "NVIDIA BlueField-3 (captured tree): the settings list other targets than the system", tree.BlueField(), nil),
		ami("AMINextReset", "AMI, Lenovo TSM: written to SD, not seen at the system until the next reset; Tacklebox #144, pubs.lenovo.com/tsm", func(*Personality) {}),
		ami("AMIBusyInBoot", "AMI: 503 while the host boots; pubs.lenovo.com/tsm/patch_systems_instance_sd", func(p *Personality) {
			p.Boot.BusyInBoot = time.Minute
		}),
		ami("AMINeedsMatch", "AMI: 428 without If-Match; stmcginnis/gofish #171", func(p *Personality) {
			p.ETag.Required = true
		}),
		ami("AMIFixedOrder", "AMI: no override while the fixed boot order is on; pubs.lenovo.com/tsm/boot_object", func(p *Personality) {
			p.Boot.FixedOrder = true
		}),
		quirk("DGXSettings", "NVIDIA DGX H100 (captured tree): no targets and a null Mode at the system, all in SD", tree.DGX(), func(p *Personality) {
			p.Boot.At, p.Boot.RefuseID, p.Boot.Pending = WriteSettings, future, true
		}),
		quirk("FujitsuOEM", "Fujitsu iRMC: Oem/ts_fujitsu/BootConfig with If-Match; fujitsu/terraform-provider-irmc-redfish", tree.Fujitsu(), func(p *Personality) {
			p.Boot.At, p.ETag.Required = WriteOEM, true
		}),
	}
}
