package sim

import "rackboot/bmc/sim/tree"

// overridePresets are about what a system does with an override that is written
// to it.
func overridePresets() []Personality {
	all := []string{tree.BootTarget, tree.BootEnabled, tree.BootMode}
	return []Personality{
		quirk("DellModeJob", "Dell iDRAC9; ironcore-dev/metal-operator #81, #80, #107", tree.Dell(), func(p *Personality) {
			p.Boot.ModeJob = true
		}),
		quirk("Dell13G", "Dell 13G: 400 and changed all the same, Enabled must be left out; ansible #5091", tree.Dell(), func(p *Personality) {
			p.Boot.RefuseYetDo = true
		}),
		quirk("DellShowsUefiTarget", "Dell R640; redfish-ansible-module #74", tree.Dell(), func(p *Personality) {
			p.Boot.ShowTarget = map[string]string{"Pxe": "UefiTarget"}
		}),
		quirk("DellLateJob", "Dell iDRAC: a boot device written during POST counts for the boot after; OpenStack ironic, drivers/modules/redfish/boot.py", tree.Dell(), func(p *Personality) {
			p.Boot.LateJob = true
		}),
		quirk("HPEEnabledWithoutTarget", "HPE iLO refuses Enabled while Target is None; ironcore-dev/metal-operator #998", tree.HPE(), func(p *Personality) {
			p.Boot.EnabledNeedsTarget = true
		}),
		quirk("HPEModeReadOnly", "HPE; ansible #3509, #3581", tree.HPE(), func(p *Personality) {
			p.Boot.NotTogether = []string{tree.BootMode}
		}),
		quirk("HPEGen9ModeHidden", "HPE Gen9 shows no Mode; OpenStack ironic, drivers/modules/redfish/management.py", tree.HPE(), func(p *Personality) {
			p.Boot.ModeHidden = true
		}),
		quirk("HPERefusesPxe", "HPE iLO6 1.58 and 1.72, DL380a Gen11; libredfish #76", tree.HPE(), func(p *Personality) {
			p.Boot.RefuseTargets = []string{"Pxe"}
		}),
		quirk("HPERefusesURI", "HPE: HttpBootUri is PropertyNotWritableOrUnknown; libredfish #76", tree.HPE(), func(p *Personality) {
			p.Boot.URIReadOnly = true
		}),
		quirk("SupermicroReverts", "Supermicro: Mode and Enabled in every write, or they go back; Redfishtool #106, storyboard 2007355", tree.Supermicro(), func(p *Personality) {
			p.Boot.Need, p.Boot.NeedReverts = all, true
		}),
		quirk("SupermicroModeReverts", "Supermicro: a change of the device resets Mode; OpenStack ironic, drivers/modules/redfish/management.py", tree.Supermicro(), func(p *Personality) {
			p.Boot.ModeReverts = true
		}),
		quirk("SupermicroForgets", "Supermicro AS-1015CS: 200, and Mode is Legacy, Enabled Disabled; bmc-toolbox/bmclib #459", tree.Supermicro(), func(p *Personality) {
			p.Boot.Forget = true
		}),
		quirk("SupermicroShowsBootNext", "Supermicro: Pxe is read back as UefiBootNext; libredfish supermicro.rs", tree.Supermicro(), func(p *Personality) {
			p.Boot.ShowTarget = map[string]string{"Pxe": "UefiBootNext"}
		}),
		quirk("SupermicroFixedOrder", "Supermicro: the order is Oem/Supermicro/FixedBootOrder; libredfish #13", tree.Supermicro(), func(p *Personality) {
			p.Boot.NotTogether = []string{tree.BootOrder}
		}),
		quirk("SupermicroDiskDisabled", "Supermicro SYS-221H: one installation in three disables the disk's boot option; libredfish #13", tree.Supermicro(), func(p *Personality) {
			p.Boot.DiskDisabled = 3
		}),
		quirk("SupermicroURI", "Supermicro, newer: HttpBootUri is written with the override; bmc-toolbox/bmclib #463", tree.SupermicroURI(), nil),
		quirk("X10NoMode", "Supermicro X10: a PATCH with Mode fails as a whole; ironcore-dev/metal-operator #982, #985", tree.X10(), nil),
		quirk("ASRockNeedsAll", "AMI, ASRock Rack: Mode, Enabled and Target in every PATCH; ironic VENDORS_REQUIRING_FULL_BOOT_REQUEST, ansible #11542", tree.Nokia(), func(p *Personality) {
			p.Manufacturer, p.Model = "ASRockRack", "1U10E-ROME"
			p.Boot.Need = all
		}),
		quirk("LenovoNoContinuous", "Lenovo SR670V2 XCC 2.83 (captured tree); OpenStack ironic falls back to Once", tree.Lenovo(), func(p *Personality) {
			p.Boot.RefuseEnabled = "Continuous"
		}),
		quirk("LenovoNoUefiHttp", "Lenovo SR670V2 XCC 2.83 (captured tree)", tree.Lenovo(), nil),
		quirk("CiscoNoMode", "Cisco C220 M5: no Mode, the id is the serial number; akaliwod/iserver", tree.Cisco(), nil),
		quirk("IBMNoOverride", "IBM OpenBMC: the override was taken out; ibm-openbmc/bmcweb #939", tree.IBM(), nil),
		quirk("KubevirtContinuous", "kubevirtbmc: Once is read back as Continuous; kubevirtbmc #165", nil, func(p *Personality) {
			p.Boot.StoreEnabled = "Continuous"
		}),
		quirk("NeverUsedUp", "assumed, without a report: Once stays after the boot, as its read-back does in kubevirtbmc #165", nil, func(p *Personality) {
			p.Boot.NeverUsedUp = true
		}),
		quirk("UsedUpAtPowerOn", "the override is gone when power is on, before firmware read it; ironcore-dev/metal-operator #1059, #1000", nil, func(p *Personality) {
			p.Boot.UsedUpAtOn = true
		}),
		quirk("UpdateReboots", "a firmware update restarts the host of its own, and Once is used up; ironcore-dev/metal-operator #938", nil, func(p *Personality) {
			p.Update.Reboots = true
		}),
	}
}
