package sim

import (
	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
)

// mediaPresets are about virtual media.
func mediaPresets() []Personality {
	return []Personality{
		quirk("MediaAtSystem", "Dell iDRAC10: at the system only; bmc-toolbox/bmclib #433", tree.IDRAC10(), nil),
		quirk("MediaAtManager", "HPE, Supermicro, OpenBMC: at the manager only; OpenStack sushy virtual_media.py", tree.HPE(), nil),
		quirk("MediaByPatch", "Lenovo: no actions, PATCH with Image and Inserted; OpenStack sushy", tree.Lenovo(), nil),
		quirk("MediaRefusesInserted", "Supermicro X11, X12: Inserted and WriteProtected are refused; OpenStack sushy", tree.Supermicro(), func(p *Personality) {
			p.Media.Refuse = []string{"Inserted", "WriteProtected"}
		}),
		quirk("MediaNeedsProtocol", "Nokia: TransferProtocolType is required; OpenStack sushy", tree.Nokia(), func(p *Personality) {
			p.Media.Need = []string{"TransferProtocolType"}
		}),
		quirk("MediaNeedsStream", "TransferMethod must be Stream; OpenStack sushy", nil, func(p *Personality) {
			p.Media.NeedMethod = "Stream"
		}),
		quirk("MediaNeedsAccount", "UserName and Password are required, and not looked at; OpenStack sushy", nil, func(p *Personality) {
			p.Media.Need = []string{"UserName", "Password"}
		}),
		quirk("MediaEjectBody", "HPE iLO: an eject needs {}; OpenStack sushy", tree.HPE(), func(p *Personality) {
			p.Media.EjectBody = true
		}),
		quirk("MediaStaysInserted", "Inserted stays true after an eject; OpenStack ironic, drivers/modules/redfish/boot.py", nil, func(p *Personality) {
			p.Media.KeepInserted = true
		}),
		quirk("MediaFirstSlot", "Dell iDRAC10: slot 1 only; OpenStack ironic", tree.IDRAC10(), func(p *Personality) {
			p.Media.FirstSlot = true
		}),
		quirk("MediaPlainURL", "Supermicro X12: no ? and = in the URL; OpenStack ironic", tree.Supermicro(), func(p *Personality) {
			p.Media.RefuseChars = "?="
		}),
		quirk("MediaNotReady", "5xx for a while; OpenStack ironic asks three times", nil, func(p *Personality) {
			p.Media.Busy = 2
		}),
		quirk("MediaDVDOnly", "a slot for DVD and none for CD: OpenStack ironic takes it", tree.DVD(), nil),
		quirk("MediaUsbCd", "Supermicro: virtual media boot as UsbCd; OpenStack sushy system.py", tree.Supermicro(), func(p *Personality) {
			p.Media.Target = string(hardware.TargetUsbCd)
		}),
	}
}
