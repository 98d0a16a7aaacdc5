package sim

import "rackboot/bmc/sim/tree"

// inventoryPresets are about MAC addresses and identity: trees, mostly.
func inventoryPresets() []Personality {
	return []Personality{
		quirk("MACsInBootOptions", "NVIDIA GB200, GH200 (captured trees): no EthernetInterfaces", tree.OpenBMC(), nil),
		quirk("HPEInterfaces", "HPE (captured tree): lower case, no PermanentMACAddress, no Status", tree.HPE(), nil),
		quirk("ToManager", "Supermicro, Lenovo (captured trees): the BMC's own NIC is listed", tree.Supermicro(), nil),
		quirk("OptionNameMAC", "Supermicro (captured tree): an empty UefiDevicePath, the MAC in the name", tree.Supermicro(), nil),
		quirk("EmptyMAC", "empty MAC addresses; OpenStack sushy", tree.EmptyMAC(), nil),
		quirk("NullUUID", "NVIDIA BlueField-3 (captured tree)", tree.BlueField(), nil),
		quirk("BMCUUID", "Supermicro (captured tree): the UUID is zeros and the BMC's MAC", tree.Supermicro(), nil),
		quirk("StaleOptions", "NVIDIA GB300: options of NICs that are gone come before the intended one; NVIDIA/infra-controller #3582", tree.StaleOptions(), nil),
		quirk("WrongAlias", "AMI (captured tree): a PXE option with the alias UefiHttp", tree.AMI(), nil),
		quirk("EmptyManager", "NVIDIA DGX H100 (captured tree): the BMC is manager of no server", tree.DGX(), nil),
	}
}
