package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// powerPresets are about resets and power states.
func powerPresets() []Personality {
	return []Personality{
		quirk("HPEAlready", "HPE: 400 InvalidOperationForSystemState for a state already reached; OpenStack ironic", tree.HPE(), func(p *Personality) {
			p.AlreadyStatus, p.AlreadyMessage = 400, messageAlreadyHPE
		}),
		quirk("HPETooSoon", "HPE: the same shortly after another change of power; OpenStack ironic", tree.HPE(), func(p *Personality) {
			p.Power.RefuseAfter = 10 * time.Second
		}),
		quirk("IDRAC10RefusesOn", "Dell iDRAC10: On is 409 ActionParameterValueConflict for up to 60 s after off; OpenStack ironic, power_on_conflict_retry", tree.IDRAC10(), func(p *Personality) {
			p.RefuseOnFor = time.Minute
		}),
		quirk("IDRACNotReady", "Dell iDRAC: 503 SYS518 after boot, says to try again in 30 s; ironcore-dev/metal-operator #170", tree.Dell(), func(p *Personality) {
			p.Power.BusyAfter = 45 * time.Second
		}),
		quirk("IDRAC5Gap", "Dell iDRAC 5.x: 20 s between operations; OpenStack sushy", tree.Dell(), func(p *Personality) {
			p.Power.Gap = 20 * time.Second
		}),
		quirk("LenovoRestartHangs", "Lenovo SR675 V3: ForceRestart can hang the host; libredfish lenovo.rs", tree.Lenovo(), func(p *Personality) {
			p.Power.RestartHangs = true
		}),
		quirk("IDRAC8RestartHard", "Dell iDRAC8: GracefulRestart is a hard reset (a field report, thread not known)", tree.Dell(), func(p *Personality) {
			p.Power.RestartHard = true
		}),
		quirk("IDRAC8NoGracefulRestart", "Dell iDRAC8, later: GracefulRestart is 400 (a field report, thread not known)", tree.Dell(), func(p *Personality) {
			p.Power.RefuseReset = tree.ResetGracefulRestart
		}),
		quirk("HPENoPowerCycle", "HPE iLO5 2.72 (captured tree): no PowerCycle", tree.HPE(), nil),
		quirk("DGXFewResets", "NVIDIA DGX H100 (captured tree): On, ForceOff, ForceRestart and GracefulShutdown only, by ActionInfo", tree.DGX(), nil),
		quirk("NoResetTypes", "no reset types are stated: OpenStack sushy allows all then", nil, func(p *Personality) {
			p.Power.NoResets = true
		}),
		quirk("StaleOn", "On is shown for 2 s after off; beskar7 #203", nil, func(p *Personality) {
			p.Power.StaleFor = 2 * time.Second
		}),
		quirk("StaleAfterReset", "the power state is late after a reset; OpenStack ironic waits 15 s", nil, func(p *Personality) {
			p.Power.StaleFor = 15 * time.Second
		}),
		quirk("OnLate", "a site: On was accepted at 08:23:02, and the server came on at 08:23:47", nil, func(p *Personality) {
			p.Power.OnLate = 45 * time.Second
		}),
		quirk("OnFallsBack", "PoweringOn falls back to Off; powerman #154", nil, func(p *Personality) {
			p.Power.OnFallsBack = 1
		}),
		quirk("OffAtOnce", "Off is shown as soon as it is accepted, the host runs on; metal3-io/baremetal-operator #290", nil, func(p *Personality) {
			p.Power.OffAtOnce, p.PowerOffDelay = true, 5*time.Second
		}),
		quirk("PowerWords", "HPE Gen11: Reset and Unknown instead of a state; canonical/maas drivers/power/redfish.py", tree.HPE(), func(p *Personality) {
			p.Power.Shown = map[string]any{"PoweringOn": "Reset", "PoweringOff": "Unknown"}
		}),
		quirk("PowerNull", "HPE Gen11: null instead of a state; canonical/maas drivers/power/redfish.py", tree.HPE(), func(p *Personality) {
			p.Power.Shown = map[string]any{"PoweringOn": nil, "PoweringOff": nil}
		}),
		quirk("PowerPaused", "a state that is neither on nor off; ironic tests/unit/drivers/modules/redfish/test_power.py", nil, func(p *Personality) {
			p.Power.Shown = map[string]any{"PoweringOff": "Paused"}
		}),
		quirk("RestoresPower", "OpenBMC, AMI (captured trees): PowerRestorePolicy AlwaysOn or LastState", tree.OpenBMC(), func(p *Personality) {
			p.Restore = RestoreAlwaysOn
		}),
		quirk("RestoresLastState", "AMI (captured tree): PowerRestorePolicy LastState", tree.AMI(), func(p *Personality) {
			p.Restore = RestoreLastState
		}),
	}
}
