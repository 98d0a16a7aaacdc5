package sim

import (
	"strings"
)

// layout is where a tree has the resources that live.
type layout struct {
	collection    string // of the systems
	managers      []string
	sessions      string
	events        string
	subscriptions string
	testEvent     string
	stream        string // of server-sent events
	tasks         []string
	update        string // the SimpleUpdate action
	systems       []place
}

// place is where one system with a power supply of its own has its resources.
type place struct {
	uri          string
	reset        string
	resetInfo    string
	settings     string
	oemBoot      string // Fujitsu: where the override is written
	fixedOrder   string // Supermicro and AMI
	bios         string
	biosSettings string
	secureBoot   string
	powerLog     string
	media        []string
}

// survey finds the live resources by following links from the service root.
func (t *Tree) survey() layout {
	root := t.look(uriRoot)
	events := t.look(linkAt(root, "EventService"))
	l := layout{
		collection:    linkAt(root, "Systems"),
		managers:      linksAt(t.look(linkAt(root, "Managers")), "Members"),
		sessions:      linkAt(t.look(linkAt(root, "SessionService")), "Sessions"),
		events:        linkAt(root, "EventService"),
		subscriptions: linkAt(events, "Subscriptions"),
		testEvent:     textAt(events, "Actions", "#EventService.SubmitTestEvent", "target"),
		stream:        textAt(events, "ServerSentEventUri"),
		update:        textAt(t.look(linkAt(root, "UpdateService")), "Actions", "#UpdateService.SimpleUpdate", "target"),
	}
	if l.sessions == "" {
		l.sessions = linkAt(root, "Links", "Sessions")
	}
	for _, service := range []string{"Tasks", "JobService"} {
		for _, name := range []string{"Tasks", "Jobs"} {
			if uri := linkAt(t.look(linkAt(root, service)), name); uri != "" {
				l.tasks = append(l.tasks, uri)
			}
		}
	}
	for _, uri := range linksAt(t.look(l.collection), "Members") {
		if s := t.place(uri); s.reset != "" {
			l.systems = append(l.systems, s)
		}
	}
	if len(l.systems) == 0 {
		return l
	}
	for _, manager := range l.managers {
		// Shared slots belong to the first system, as on a BMC with one.
		l.systems[0].media = append(l.systems[0].media, t.slots(t.look(manager))...)
	}
	return l
}

func (t *Tree) place(uri string) place {
	s := t.look(uri)
	reset := at(s, "Actions", "#ComputerSystem.Reset")
	bios := linkAt(s, "Bios")
	p := place{
		uri:          uri,
		reset:        textAt(reset, "target"),
		resetInfo:    textAt(reset, "@Redfish.ActionInfo"),
		settings:     linkAt(s, "@Redfish.Settings", "SettingsObject"),
		bios:         bios,
		biosSettings: linkAt(t.look(bios), "@Redfish.Settings", "SettingsObject"),
		secureBoot:   linkAt(s, "SecureBoot"),
		media:        t.slots(s),
	}
	for _, vendor := range []string{"Supermicro", "Ami"} {
		if order := linkAt(s, "Oem", vendor, "FixedBootOrder"); order != "" {
			p.fixedOrder = order
		}
	}
	for _, vendor := range []string{"ts_fujitsu", "Fsas"} {
		if boot := strings.TrimRight(uri, "/") + "/Oem/" + vendor + "/BootConfig"; t.look(boot) != nil {
			p.oemBoot = boot
		}
	}
	for _, log := range linksAt(t.look(linkAt(s, "LogServices")), "Members") {
		if strings.HasSuffix(log, "/Log1") {
			p.powerLog = linkAt(t.look(log), "Entries")
		}
	}
	return p
}

// slots are the virtual media of a system or manager.
func (t *Tree) slots(owner object) []string {
	return linksAt(t.look(linkAt(owner, "VirtualMedia")), "Members")
}

// resets are the reset types that a system states, inline or by ActionInfo; none
// if it states none.
func (t *Tree) resets(p place) []string {
	if inline := textsAt(t.look(p.uri), "Actions", "#ComputerSystem.Reset", "ResetType@Redfish.AllowableValues"); inline != nil {
		return inline
	}
	parameters, _ := at(t.look(p.resetInfo), "Parameters").([]any)
	for _, q := range parameters {
		if textAt(q, "Name") == "ResetType" {
			return textsAt(q, "AllowableValues")
		}
	}
	return nil
}

// targets are the override targets that a system states where they are written:
// there or, if that is silent, at the other place; none if it states none.
func (t *Tree) targets(p place, where Write) []string {
	own, settings := textsAt(t.look(p.uri), "Boot", bootAllowed), textsAt(t.look(p.settings), "Boot", bootAllowed)
	if where == WriteSettings && settings != nil || own == nil {
		return settings
	}
	return own
}
