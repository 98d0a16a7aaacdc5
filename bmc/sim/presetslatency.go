package sim

import (
	"time"

	"rackboot/bmc/sim/tree"
)

// latencyPresets answer as slowly as was measured when trees were captured.
func latencyPresets() []Personality {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	slow := func(name, source string, t *tree.Tree, mean, longest time.Duration, paths ...SlowPath) Personality {
		return quirk(name, source, t, func(p *Personality) { p.Latency = latencyOf(mean, longest, paths...) })
	}
	const mockups = "; NVIDIA Mockup-Creator, README"
	return []Personality{
		slow("SlowDell", "Dell: mean 0.19 s, up to 18 s"+mockups, tree.Dell(), ms(190), ms(18000)),
		slow("SlowHPE", "HPE: mean 0.31 s, up to 3.4 s"+mockups, tree.HPE(), ms(310), ms(3400)),
		slow("SlowLenovo", "Lenovo: mean 0.38 s, up to 8.3 s"+mockups, tree.Lenovo(), ms(380), ms(8300)),
		slow("SlowSupermicro", "Supermicro: mean 0.25 s, 5.8 s for the manager"+mockups, tree.Supermicro(), ms(250), ms(1000), SlowPath{"/Managers/1", ms(5800)}),
		slow("SlowDGX", "NVIDIA DGX H100: mean 0.53 s, up to 20.9 s"+mockups+"; firmware inventory 2 to 3 minutes; NVIDIA/infra-controller #1584", tree.DGX(), ms(530), ms(20900), SlowPath{"/FirmwareInventory", 150 * time.Second}),
		slow("SlowGB200", "NVIDIA GB200: mean 0.22 s, up to 2.9 s"+mockups, tree.OpenBMC(), ms(220), ms(2900)),
		slow("SlowGH200", "NVIDIA GH200: mean 0.16 s, up to 5.3 s"+mockups, tree.OpenBMC(), ms(160), ms(5300)),
		slow("SlowBlueField", "NVIDIA BlueField: mean 0.09 s, up to 23.1 s"+mockups, tree.BlueField(), ms(90), ms(23100)),
	}
}
