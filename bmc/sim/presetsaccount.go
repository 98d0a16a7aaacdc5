package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// accountPresets are about accounts and their passwords.
func accountPresets() []Personality {
	return []Personality{
		quirk("AccountSlots", "Dell: 16 fixed slots, of which the first is reserved; a user is a PATCH of an empty one; dell/iDRAC-Redfish-Scripting, CreateDeleteIdracUsersREDFISH", tree.Dell(), func(p *Personality) {
			p.Account.Slots = 16
		}),
		quirk("AccountMustChange", "OpenBMC: the first password must be changed before all else, 403 names the account; openbmc/bmcweb #103, DMTF/Redfishtool #107", tree.OpenBMC(), func(p *Personality) {
			p.Account.MustChange = true
		}),
		quirk("AccountLocks", "three wrong passwords block the account; iDRAC-Redfish-Scripting #295", tree.Dell(), func(p *Personality) {
			p.Session.LockAfter, p.Session.LockFor = 3, 5*time.Minute
		}),
		quirk("AccountKeepsOld", "a user that exists keeps another password than the one that was written; fwupd/fwupd #5129 (Supermicro)", tree.Supermicro(), func(p *Personality) {
			p.Account.KeepsOld = true
		}),
		quirk("AccountLater", "DSP0266 lets a service answer before a change is in force", nil, func(p *Personality) {
			p.Account.ApplyAfter = 300 * time.Millisecond
		}),
		quirk("AccountMax20", "Cisco C240 M4: passwords of 8 to 20 (akaliwod/iserver); OpenBMC with IPMI: 20 (openbmc #3550)", tree.Cisco(), func(p *Personality) {
			p.Account.MinLength, p.Account.MaxLength = 8, 20
		}),
		quirk("AccountMax16", "IPMI 1.5: 16; metal-stack/metal-api #597", nil, func(p *Personality) {
			p.Account.MaxLength = 16
		}),
		quirk("AccountCuts16", "a longer password is cut to 16 without a word, and does not log in; ipmitool/ipmitool #347", nil, func(p *Personality) {
			p.Account.CutAt = 16
		}),
		quirk("AccountReadOnly", "accounts that are kept in a directory cannot be changed at the BMC (AccountService.LocalAccountAuth)", nil, func(p *Personality) {
			p.Account.ReadOnly = true
		}),
		quirk("AccountNeedsMatch", "Lenovo: 428 to a change of an account without If-Match; ansible/ansible #56050", tree.Lenovo(), func(p *Personality) {
			p.ETag.Required = true
		}),
		quirk("AccountWeakRole", "a user that was added has fewer rights than were asked for", nil, func(p *Personality) {
			p.Account.WeakRole = true
		}),
	}
}
