package sim

import "time"

// reportPresets are about what a BMC tells of the host's boot.
func reportPresets() []Personality {
	last := func(name, source, kind string, t *Tree) Personality {
		return quirk(name, source, t, func(p *Personality) { p.Report.LastReset = kind })
	}
	progress := func(name, source, kind string, t *Tree) Personality {
		return quirk(name, source, t, func(p *Personality) { p.Report.Progress = kind })
	}
	return []Personality{
		last("LastResetAbsent", "HPE, Lenovo, Supermicro (captured trees)", "absent", HPETree()),
		last("LastResetZero", "Dell multi_dpu (captured tree)", "zero", DellTree()),
		last("LastReset1970", "OpenBMC (captured trees)", "epoch", OpenBMCTree()),
		progress("ProgressStuck", "Supermicro 821GE (captured tree): the same while the host runs", "stuck", SupermicroTree()),
		progress("ProgressOEM", "NVIDIA BlueField-3 (captured tree): OEM, OsIsRunning", "oem", BlueFieldTree()),
		progress("ProgressHPE", "HPE iLO: Oem.Hpe.PostState instead", "hpe", HPETree()),
		progress("ProgressAbsent", "Dell R750 iDRAC9 6.00.30 (captured tree)", "absent", DellTree()),
		progress("ProgressForgets", "OpenBMC: none after a restart of the BMC; openbmc #2181", "forgets", OpenBMCTree()),
		quirk("ClockWrong", "NVIDIA DGX H100 (captured tree): the clock of a manager says 2020", DGXTree(), func(p *Personality) {
			p.Report.Clock = -6 * 365 * 24 * time.Hour
		}),
	}
}
