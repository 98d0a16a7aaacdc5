package sim

import "rackboot/bmc/sim/tree"

// show puts values over the properties that a Boot object shows. o.mu is held.
func (o *override) show(boot tree.Object, values bootValues) {
	rules := o.manner.now().Boot
	for name, value := range values {
		if _, ok := boot[name]; !ok || name == tree.BootMode && boot[name] == nil {
			continue
		}
		boot[name] = tree.Clone(value)
		if name != tree.BootTarget {
			continue
		}
		if s, ok := value.(string); ok && rules.ShowTarget[s] != "" {
			boot[name] = rules.ShowTarget[s]
		}
	}
	if rules.ModeHidden {
		delete(boot, tree.BootMode)
	}
}

// showMain puts the override into the system's own Boot.
func (o *override) showMain(boot tree.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.show(boot, o.boot)
	if o.boot.text(tree.BootTarget) == "None" && o.has(o.place.URI, tree.BootTarget) && tree.At(o.tree.Look(o.place.URI), "Boot", tree.BootTarget) == nil {
		boot[tree.BootTarget] = nil // AMI: null without an override
	}
	if o.manner.now().NoMode {
		delete(boot, tree.BootMode)
	}
}

// mainWritable are the properties of the system's own Boot that may be written.
func (o *override) mainWritable() []string {
	boot, _ := tree.At(o.tree.Look(o.place.URI), "Boot").(tree.Object)
	return o.writable(boot)
}

func (o *override) writable(boot tree.Object) []string {
	var names []string
	for _, name := range []string{tree.BootTarget, tree.BootEnabled, tree.BootMode, tree.BootURI, tree.BootUEFI, tree.BootNext, tree.BootOrder} {
		if _, ok := boot[name]; !ok {
			continue
		}
		if name == tree.BootMode && o.manner.now().NoMode {
			continue
		}
		names = append(names, name)
	}
	return names
}
