package settings

import (
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func (p *plan) bootOrder(want []resource.BootClass) {
	if len(want) == 0 {
		return
	}
	today := p.shown.BootOrder
	c := protocol.FirmwareChange{Setting: "bootOrder", Where: protocol.FirmwareAtOrder, Today: strings.Join(today, protocol.FirmwareOrderWords), Reset: true}
	next, missing := Order(want, today, p.shown.BootOptions)
	switch {
	case len(today) == 0 || len(p.shown.BootOptions) == 0:
		c.Hindrance, c.Text = protocol.FirmwareUnread, "the BMC shows no boot order with its options"
	case missing != "":
		c.Hindrance, c.Text = protocol.FirmwareNoOption, "the server has no boot option of "+string(missing)+", which is to be first"
	case slices.Equal(next, today):
		return
	default:
		c.Order, c.Wanted = next, strings.Join(next, protocol.FirmwareOrderWords)
	}
	if c.Hindrance != "" {
		c.Where, c.Reset, c.Wanted = "", false, words(want)
	}
	p.add(c)
}

func words(want []resource.BootClass) string {
	var out []string
	for _, c := range want {
		out = append(out, string(c))
	}
	return strings.Join(out, protocol.FirmwareOrderWords)
}

// Order is today's order with the options of each entry in the place of the entry, in the order that they have,
// and all others behind them. An option that is not in the order comes into it, behind those of its entry that are.
// Disabled options are of no entry. missing is the first entry, if it has no option.
func Order(want []resource.BootClass, today []string, options []protocol.BootOption) (next []string, missing resource.BootClass) {
	for i, c := range want {
		of := func(ref string) bool {
			return !slices.Contains(next, ref) && slices.ContainsFunc(options, func(o protocol.BootOption) bool { return o.Reference == ref && is(o, c) })
		}
		next = append(next, only(slices.Concat(today, references(options)), of)...)
		if i == 0 && len(next) == 0 {
			return nil, c
		}
	}
	return append(next, only(today, func(ref string) bool { return !slices.Contains(next, ref) })...), ""
}

// only are the members that fit, each once.
func only(refs []string, fits func(ref string) bool) (out []string) {
	for _, ref := range refs {
		if fits(ref) && !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

func references(options []protocol.BootOption) (out []string) {
	for _, o := range options {
		out = append(out, o.Reference)
	}
	return out
}

// is says whether an option is of an entry.
func is(o protocol.BootOption, c resource.BootClass) bool {
	if o.Disabled {
		return false
	}
	if pattern, ok := c.Path(); ok {
		return matches(pattern, o.Path)
	}
	switch c {
	case resource.BootNetworkOptions:
		return o.Kind == protocol.OptionPXE || o.Kind == protocol.OptionHTTP
	case resource.BootDiskOptions:
		return o.Kind == protocol.OptionDisk
	case resource.BootCDOptions:
		return o.Kind == protocol.OptionCD
	case resource.BootUSBOptions:
		return o.Kind == protocol.OptionUSB
	case resource.BootShellOptions:
		return o.Kind == protocol.OptionShell
	}
	return false
}

// matches says whether a text is a pattern's, in which * is any text.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok || len(parts) == 1 {
		return ok && text == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
