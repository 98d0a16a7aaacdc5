package tree

import (
	"strings"
)

// Layout is where a tree has the resources that live.
type Layout struct {
	Collection    string // of the systems
	Managers      []string
	Sessions      string
	events        string
	Subscriptions string
	TestEvent     string
	Stream        string // of server-sent events
	Tasks         []string
	Update        string // the SimpleUpdate action
	Systems       []Place
}

// Place is where one system with a power supply of its own has its resources.
type Place struct {
	URI          string
	Reset        string
	resetInfo    string
	Settings     string
	OEMBoot      string // Fujitsu: where the override is written
	FixedOrder   string // Supermicro and AMI
	BIOS         string
	BIOSSettings string
	SecureBoot   string
	PowerLog     string
	Media        []string
}

// Survey finds the live resources by following links from the service root.
func (t *Tree) Survey() Layout {
	root := t.Look(RootURI)
	events := t.Look(linkAt(root, "EventService"))
	l := Layout{
		Collection:    linkAt(root, "Systems"),
		Managers:      linksAt(t.Look(linkAt(root, "Managers")), "Members"),
		Sessions:      linkAt(t.Look(linkAt(root, "SessionService")), "Sessions"),
		events:        linkAt(root, "EventService"),
		Subscriptions: linkAt(events, "Subscriptions"),
		TestEvent:     TextAt(events, "Actions", "#EventService.SubmitTestEvent", "target"),
		Stream:        TextAt(events, "ServerSentEventUri"),
		Update:        TextAt(t.Look(linkAt(root, "UpdateService")), "Actions", "#UpdateService.SimpleUpdate", "target"),
	}
	if l.Sessions == "" {
		l.Sessions = linkAt(root, "Links", "Sessions")
	}
	for _, service := range []string{"Tasks", "JobService"} {
		for _, name := range []string{"Tasks", "Jobs"} {
			if uri := linkAt(t.Look(linkAt(root, service)), name); uri != "" {
				l.Tasks = append(l.Tasks, uri)
			}
		}
	}
	for _, uri := range linksAt(t.Look(l.Collection), "Members") {
		if s := t.place(uri); s.Reset != "" {
			l.Systems = append(l.Systems, s)
		}
	}
	if len(l.Systems) == 0 {
		return l
	}
	for _, manager := range l.Managers {
		if log := t.powerLog(t.Look(manager)); log != "" && l.Systems[0].PowerLog == "" {
			l.Systems[0].PowerLog = log
		}
		// Shared slots belong to the first system, as on a BMC with one.
		l.Systems[0].Media = append(l.Systems[0].Media, t.slots(t.Look(manager))...)
	}
	return l
}

func (t *Tree) place(uri string) Place {
	s := t.Look(uri)
	reset := At(s, "Actions", "#ComputerSystem.Reset")
	bios := linkAt(s, "Bios")
	p := Place{
		URI:          uri,
		Reset:        TextAt(reset, "target"),
		resetInfo:    TextAt(reset, "@Redfish.ActionInfo"),
		Settings:     linkAt(s, "@Redfish.Settings", "SettingsObject"),
		BIOS:         bios,
		BIOSSettings: linkAt(t.Look(bios), "@Redfish.Settings", "SettingsObject"),
		SecureBoot:   linkAt(s, "SecureBoot"),
		Media:        t.slots(s),
	}
	for _, vendor := range []string{"Supermicro", "Ami"} {
		if order := linkAt(s, "Oem", vendor, "FixedBootOrder"); order != "" {
			p.FixedOrder = order
		}
	}
	for _, vendor := range []string{"ts_fujitsu", "Fsas"} {
		if boot := strings.TrimRight(uri, "/") + "/Oem/" + vendor + "/BootConfig"; t.Look(boot) != nil {
			p.OEMBoot = boot
		}
	}
	p.PowerLog = t.powerLog(s)
	return p
}

// powerLog is where the entries of a system's or manager's log of power are.
func (t *Tree) powerLog(owner Object) (entries string) {
	for _, log := range linksAt(t.Look(linkAt(owner, "LogServices")), "Members") {
		if strings.HasSuffix(log, "/Log1") {
			entries = linkAt(t.Look(log), "Entries")
		}
	}
	return entries
}

// slots are the virtual media of a system or manager.
func (t *Tree) slots(owner Object) []string {
	return linksAt(t.Look(linkAt(owner, "VirtualMedia")), "Members")
}

// Resets are the reset types that a system states, inline or by ActionInfo; none
// if it states none.
func (t *Tree) Resets(p Place) []string {
	if inline := TextsAt(t.Look(p.URI), "Actions", "#ComputerSystem.Reset", "ResetType@Redfish.AllowableValues"); inline != nil {
		return inline
	}
	parameters, _ := At(t.Look(p.resetInfo), "Parameters").([]any)
	for _, q := range parameters {
		if TextAt(q, "Name") == "ResetType" {
			return TextsAt(q, "AllowableValues")
		}
	}
	return nil
}

// Targets are the override targets that a system states where they are written:
// there or, if that is silent, at the other place; none if it states none.
func (t *Tree) Targets(p Place, inSettings bool) []string {
	own, settings := TextsAt(t.Look(p.URI), "Boot", bootAllowed), TextsAt(t.Look(p.Settings), "Boot", bootAllowed)
	if inSettings && settings != nil || own == nil {
		return settings
	}
	return own
}
