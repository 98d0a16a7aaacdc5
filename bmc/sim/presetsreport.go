package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// reportPresets are about what a BMC tells of the host's boot.
func reportPresets() []Personality {
	last := func(name, source, kind string, t *tree.Tree) Personality {
		return quirk(name, source, t, func(p *Personality) { p.Report.LastReset = kind })
	}
	progress := func(name, source, kind string, t *tree.Tree) Personality {
		return quirk(name, source, t, func(p *Personality) { p.Report.Progress = kind })
	}
	return []Personality{
		last("LastResetAbsent", "HPE, Lenovo, Supermicro (captured trees)", "absent", tree.HPE()),
		last("LastResetZero", "Dell multi_dpu (captured tree)", "zero", tree.Dell()),
		last("LastReset1970", "OpenBMC (captured trees)", "epoch", tree.OpenBMC()),
		quirk("LastResetComputed", "a site's BMCs, whose NTP came back: LastResetTime moved with their clocks, and nothing was reset", nil, func(p *Personality) {
			p.Report.ResetComputed = true
		}),
		progress("ProgressStuck", "Supermicro 821GE (captured tree): the same while the host runs", "stuck", tree.Supermicro()),
		progress("ProgressOEM", "NVIDIA BlueField-3 (captured tree): OEM, OsIsRunning", "oem", tree.BlueField()),
		progress("ProgressHPE", "HPE iLO: Oem.Hpe.PostState instead", "hpe", tree.HPE()),
		progress("ProgressAbsent", "Dell R750 iDRAC9 6.00.30 (captured tree)", "absent", tree.Dell()),
		progress("ProgressForgets", "OpenBMC: none after a restart of the BMC; openbmc #2181", "forgets", tree.OpenBMC()),
		quirk("ClockWrong", "NVIDIA DGX H100 (captured tree): the clock of a manager says 2020", tree.DGX(), func(p *Personality) {
			p.Report.Clock = -6 * 365 * 24 * time.Hour
		}),
	}
}
