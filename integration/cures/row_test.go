package cures

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/tree"
	"rackboot/integration/parallel"
	"rackboot/protocol/resource"
)

// row is what a fault is named, and what ends it.
type row struct {
	// name is a condition, or "attempt" and the code of one; words are in its message: what the BMC said,
	// or where it said nothing, what it did.
	name, words string
	// hint is a part of the name's hint, and cure does what that says. A row without a cure is of what ends by
	// itself, or by [bench.mend].
	hint string
	cure func(*bench)
	// skips is what firmware says that passes the network boot over.
	skips string
	// elsewhere is why nothing at the BMC is tried.
	elsewhere string
}

// rows are the presets of the simulator with which a server is not held and booted as with any other.
var rows = map[string]row{
	"DropsOverride":         {name: "OverrideNotStored", words: "the BMC answered with success and stored nothing", hint: "update its firmware", cure: updated},
	"SupermicroForgets":     {name: "OverrideNotStored", words: "the BMC answered with success and stored nothing", hint: "update its firmware", cure: updated},
	"SupermicroModeReverts": {name: "OverrideNotStored", words: "stored UefiHttp Once Legacy", hint: "update its firmware", cure: updated},
	"SushyTools":            {name: "OverrideNotStored", words: "stored Pxe Continuous UEFI", hint: "update its firmware", cure: updated},
	"Down":                  {name: "BMCUnreachable", words: "connection refused", hint: "Check the BMC's address, its cable", cure: plugged},
	"OldTLS":                {name: "BMCDenied", words: "its TLS is too old: TLS 1.0, cipher suite TLS_RSA", hint: "set spec.tls.legacy", cure: legacy},
	"SupermicroHTTPOff":     {name: "attempt NoDHCP", words: "did not fetch the boot file", skips: "no HTTP boot option", hint: "network boot is enabled on the interface", cure: sets("IPv4HTTPSupport_00F5", "Enabled")},
	"DellHTTPTLS":           {name: "attempt NoDHCP", words: "did not fetch the boot file", skips: "UEFI0417", hint: "rackctl bmc probe shows what the firmware's HTTP client lacks", cure: sets("HttpDev1TlsMode", "None")},
	"DellHTTPDevice":        {name: "UnsupportedBoot", words: "HttpDev1EnDis is Disabled, and has to be Enabled", hint: "set the attribute that it names in the BIOS settings"},
	"UsedUpAtPowerOn":       {name: "attempt NoDHCP", words: "firmware did not fetch the boot file in time", hint: "update the BMC's firmware", cure: updated},
	"LenovoNoUefiHttp":      {name: "UnsupportedBoot", words: "it does not offer the boot target UefiHttp; it offers [None Pxe Cd", hint: "use another first boot"},
	"FujitsuOEM":            {name: "OverrideNotStored", words: "400 Base.1.13.PropertyValueNotInList: property BootSourceOverrideTarget", hint: "choose another first boot", cure: (*bench).installed},
	"IBMNoOverride":         {name: "UnsupportedBoot", words: "it shows no boot override", hint: "a BMC that shows no boot override can be ordered none: update its firmware", elsewhere: "the simulator reads its tree once, so that no update gives the BMC an override"},
	"ETagGigabyte":          {name: "BMCRefusesETags", words: "412 Base.1.13.PreconditionFailed: the ETag does not match", hint: "Update its firmware", cure: updated},
	"HPETooSoon":            {name: "PowerActionFailed", words: "400 iLO.2.37.InvalidOperationForSystemState: not in this state", hint: "the agent goes on trying"},
	"IDRACNotReady":         {name: "BMCBusy", words: "503 IDRAC.2.8.SYS518: data sources are not ready", hint: "the agent tries again by itself"},
	"IDRAC5Gap":             {name: "BMCBusy", words: "503 IDRAC.2.8.SYS518: the last operation is not complete", hint: "the agent tries again by itself"},
	"PowerWords":            {name: "PowerUnknown", words: `reports the power state "Unknown"`, hint: "passes by itself"},
	"PowerNull":             {name: "PowerUnknown", words: `reports the power state ""`, hint: "passes by itself"},
	"RedirectsAway":         {name: "PowerUnknown", words: "the BMC redirects to another host or method", hint: "check that the address is the BMC's own", cure: updated},
	"EndlessSystems":        {name: "PowerUnknown", words: "the list /redfish/v1/Systems does not end", hint: "check that the address is the BMC's own", cure: updated},
	"HugeBody":              {name: "PowerUnknown", words: "it is larger than 4 MiB", hint: "update its firmware", cure: updated},
	"BrokenJSON":            {name: "BMCAnswerCut", words: "unexpected EOF", hint: "Restart the BMC", cure: updated},
	"ShortBody":             {name: "BMCAnswerCut", words: "it ended before the length that it stated", hint: "update its firmware", cure: updated},
	"SlowDrip":              {name: "BMCAnswersSlowly", words: "the answer began and did not end in time", hint: "Restart the BMC", cure: updated},
	"PowerAbsent":           {name: "PowerUnknown", words: `reports the power state ""`, hint: "update its firmware", cure: updated},
	"SlowDell":              {name: "BMCUnreachable", words: "did not answer in time", hint: "unknown until it answers"},
	"SlowDGX":               {name: "BMCUnreachable", words: "did not answer in time", hint: "unknown until it answers"},
	"SlowBlueField":         {name: "BMCUnreachable", words: "did not answer in time", hint: "unknown until it answers"},
	"AccountMustChange":     {name: "BMCDenied", words: "403 Base.1.13.PasswordChangeRequired: the password must be changed first", hint: "change it at the BMC's page", cure: changed},
	"ForceOffIgnored":       {name: "ForceOffIgnored", words: "the BMC shows On", hint: "Restart the BMC", cure: updated},
	"ResetTaskFails":        {name: "BMCTaskFailed", words: "On Base.1.13.InternalError: The power sequencer did not answer.", hint: "restart the BMC", cure: updated},
	"KeepsOverride":         {name: "OverrideLeftArmed", words: "400 iLO.2.37.UnsupportedOperation: this override is not supported", hint: "Clear it at the BMC's page", cure: cleared},
	"DisarmsByHdd":          {name: "OverrideLeftArmed", words: "the BMC takes none away; this one was put in the place", hint: "Clear it at the BMC's page", cure: cleared},
}

// usual are names that a server gets which is held, or that the agent gives at its start.
var usual = []string{
	string(resource.CondHeld), string(resource.CondAwaitingHub), string(resource.CondArtefactsPending),
	string(resource.CondRestorePolicy), // most trees have no PowerRestorePolicy
	"attempt " + string(resource.AttemptWithdrawn),
}

// ofMethod are names that a server gets whose firmware has HTTP boot off, or does not have it: [bench.mend]
// does what their hint says.
var ofMethod = []string{
	string(resource.CondUnsupportedBoot), string(resource.CondOverrideNotStored), string(resource.CondFirstBootFailed),
	"attempt " + string(resource.AttemptNotStored),
}

// updated is a BMC whose firmware was updated, and that restarted.
func updated(b *bench) {
	b.bmc.Adjust(func(p *sim.Personality) {
		*p = sim.Personality{Tree: p.Tree, PowerOnDelay: p.PowerOnDelay, PowerOffDelay: p.PowerOffDelay}
	})
	b.bmc.Restart()
}

// sets is an attribute that is given a value in the firmware's menus.
func sets(name, value string) func(*bench) {
	return func(b *bench) { b.bmc.SetBIOS(tree.Object{name: value}) }
}

func plugged(b *bench) {
	if err := b.bmc.SetReach(sim.ReachOK); err != nil {
		b.t.Error(err)
	}
}

func legacy(b *bench) {
	b.intent.BMC.LegacyTLS = true
	b.send()
}

// changed is an account whose password was changed at the BMC's page and in the agent's file.
func changed(b *bench) {
	b.bmc.Adjust(func(p *sim.Personality) { p.Account.MustChange = false })
	b.bmc.SetCredentials("admin", "changed")
	b.creds.set(bmc.Credentials{Username: "admin", Password: "changed"})
	b.send()
}

// cleared is an override that was taken away at the BMC's page.
func cleared(b *bench) {
	updated(b)
	b.bmc.ClearOverride()
}

// mend does what the hint of UnsupportedBoot says: it sets the attribute that the message names. Another first
// boot needs boot servers (integration/rack); of a server without HTTP boot the disk is booted instead.
func (b *bench) mend() {
	for _, c := range b.says().Conditions {
		if c.Code != resource.CondUnsupportedBoot {
			continue
		}
		if _, said, ok := strings.Cut(c.Message, "switched off: "); ok {
			name, rest, _ := strings.Cut(said, " is ")
			_, value, _ := strings.Cut(rest, "has to be ")
			b.bmc.SetBIOS(tree.Object{name: value})
		} else {
			b.installed()
		}
	}
}

// boots wants the network boot to begin.
func (b *bench) boots(limit time.Duration) bool {
	return b.comes(limit, func() bool {
		b.mend()
		return b.began()
	})
}

// TestCures takes a server behind each BMC that the simulator can be through a claim and a hard hold. What goes
// otherwise than with most BMCs has a row; the BMC's words are in the name's message; and once what the hint says
// is done, the server is held with a receipt, and booted. Where time is dear only BMCs with a row are tried.
func TestCures(t *testing.T) {
	all := map[string]bool{}
	for _, p := range sim.Presets() {
		all[p.Name] = true
		if _, has := rows[p.Name]; !has && (raced || parallel.Short()) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) { with(t, p, func(b *bench) { b.try(p.Name) }) })
	}
	for name := range rows {
		if !all[name] {
			t.Errorf("%s is no preset", name)
		}
	}
}

func (b *bench) try(preset string) {
	r, has := rows[preset]
	b.send()
	b.comes(2*time.Minute, func() bool { return false }) // the agent learns what the BMC offers
	b.claim(resource.FirstBootUefiHTTP, "claim-1")
	on := b.boots(10 * time.Minute)
	if r.skips != "" {
		b.comes(20*time.Minute, func() bool { _, ok := b.said(r.name); return ok })
	}
	b.hold("hold-1")
	off := b.comes(5*time.Minute, b.fenced)
	odd := slices.DeleteFunc(b.names(), func(n string) bool {
		return slices.Contains(usual, n) || on && slices.Contains(ofMethod, n) || n == string(resource.CondBMCUnreachable) && strings.HasPrefix(preset, "Slow")
	})
	if !has {
		if !on || !off || len(odd) > 0 {
			b.t.Errorf("began %v, fenced %v, and no row for %s", on, off, b.told(odd))
		}
		return
	}
	b.named(r)
	if r.elsewhere != "" {
		return
	}
	if skipped := b.skipped(r.skips); (skipped > 0) != (r.skips != "") {
		b.t.Errorf("firmware passed the network boot over %d times", skipped)
	}
	if r.cure == nil {
		if !on || !off {
			b.t.Errorf("it does not end by itself: began %v, fenced %v; %s", on, off, b.told(odd))
		}
		return
	}
	r.cure(b)
	if !b.comes(20*time.Minute, b.fenced) {
		b.t.Errorf("no receipt after the cure: %+v", b.says())
	}
	b.release()
	b.armed = false
	skipped := b.skipped(r.skips)
	if !b.boots(20 * time.Minute) {
		b.t.Errorf("no boot after the cure: %+v", b.says())
	}
	if b.comes(time.Minute, func() bool { return b.skipped(r.skips) > skipped }) {
		b.t.Errorf("after the cure firmware passes the network boot over: %s", r.skips)
	}
	for _, c := range b.says().Conditions {
		if string(c.Code) == r.name {
			b.t.Errorf("still %s: %s", c.Code, c.Message)
		}
	}
}

// skipped is how often firmware said that it passed the network boot over.
func (b *bench) skipped(word string) (n int) {
	for _, h := range b.bmc.History() {
		if word != "" && h.What == sim.RecordBoot && h.Detail == word {
			n++
		}
	}
	return n
}

// named wants the fault's name, with the words of the BMC, and a hint.
func (b *bench) named(r row) {
	b.t.Helper()
	said, ok := b.said(r.name)
	if !ok || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, r.words) }) {
		b.t.Errorf("%s does not say %q; there is %s", r.name, r.words, b.told(b.names()))
	}
	hint := ""
	if code, is := strings.CutPrefix(r.name, "attempt "); is {
		f, _ := resource.LookupAttempt(resource.AttemptCode(code))
		hint = f.Hint
	} else {
		c, _ := resource.LookupCondition(resource.ConditionCode(r.name))
		hint = c.Hint
	}
	if r.hint == "" || !strings.Contains(hint, r.hint) {
		b.t.Errorf("the hint of %s does not say %q: %s", r.name, r.hint, hint)
	}
}
