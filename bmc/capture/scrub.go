package capture

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// scrubbed stands for what is not kept.
const scrubbed = "scrubbed"

// learn finds what names something in a body, before any is replaced; in order of names, so that the
// same answers become the same capture.
func (k *identities) learn(name string, v any, attributes bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, n := range slices.Sorted(maps.Keys(v)) {
			k.learn(n, v[n], attributes || n == "Attributes")
		}
	case []any:
		for _, e := range v {
			k.learn(name, e, attributes)
		}
	case string:
		k.learnText(kindIn(name, v, attributes), v)
	}
}

func (k *identities) learnText(is kind, s string) {
	each(k.forms.mac, k.forms.macWord.ReplaceAllString(s, ""), "-:", func(found string) string {
		if digits := digitsOf(found); len(digits) > 12 {
			k.learnWord(found, kindOpen)
		} else {
			k.learnMAC(digits)
		}
		return found
	})
	switch is {
	case kindUUID:
		k.learnUUID(digitsOf(strings.TrimSpace(s)))
	case kindSerial, kindHost, kindUser:
		k.learnWord(s, is)
	case kindOpen, kindText, kindFigure, kindSecret:
	}
	if strings.HasPrefix(s, "/redfish/") {
		k.learnPath(s)
	}
	for _, m := range k.forms.disk.FindAllStringSubmatch(s, -1) {
		k.learnWord(m[2], kindOpen)
	}
	if is == kindFigure {
		return
	}
	for _, form := range []*regexp.Regexp{k.forms.ipv4, k.forms.ipv6} {
		each(form, s, ".:", func(found string) string {
			if a, ok := addressOf(found); ok {
				k.learnIP(a)
			}
			return found
		})
	}
}

// learnPath finds one thing's own number in a path.
func (k *identities) learnPath(uri string) {
	for part := range strings.SplitSeq(uri, "/") {
		if found := k.forms.uuid.FindString(part); found != "" {
			k.learnUUID(digitsOf(found))
			continue
		}
		for _, run := range k.forms.run.FindAllString(part, -1) {
			if instance(run) && len(digitsOf(run)) != 12 {
				k.learnWord(run, kindOpen)
			}
		}
	}
}

// scrub is a value without what names something.
func (k *identities) scrub(name string, v any, attributes bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for n, e := range v {
			out[k.replace(n, false)] = k.scrub(n, e, attributes || n == "Attributes")
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = k.scrub(name, e, attributes)
		}
		return out
	case string:
		return k.text(kindIn(name, v, attributes), v, attributes)
	case json.Number:
		switch kindOf(name) {
		case kindSecret, kindSerial, kindUUID, kindHost, kindUser:
			return 0
		case kindOpen, kindText, kindFigure:
		}
	}
	return v
}

// text is a string without what names something.
//
//	kind                     | what is kept
//	text, figure             | all but known identities and what has the form of one
//	uuid                     | as much as the driver judges it by
//	serial, host, user       | that there is one, and which are the same
//	secret                   | that there is one
//	open, among attributes   | a setting of a few words
//	open                     | one word, such as an enumeration
func (k *identities) text(is kind, s string, attributes bool) string {
	if placeholder(s) {
		return s
	}
	switch is {
	case kindText:
		return k.replace(s, true)
	case kindFigure:
		return k.replace(s, false)
	case kindUUID:
		if got := k.replace(s, true); got != s {
			return got
		}
		if digits := digitsOf(s); len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == "" {
			return s // it is empty
		}
		return scrubbed
	case kindSerial, kindHost, kindUser:
		if known := k.words[strings.TrimSpace(s)]; known != "" {
			return known
		}
		if k.macs[digitsOf(strings.TrimSpace(s))] != "" {
			return k.hardware(s)
		}
		return string(is) + "-0"
	case kindSecret:
		return scrubbed
	case kindOpen:
	}
	return k.open(s, attributes)
}

// open keeps what is of a vendor's vocabulary, as far as that can be seen.
func (k *identities) open(s string, attributes bool) string {
	words := 1
	if attributes {
		words = 5 // Last State, and Enabled with USB boot
	}
	if !strings.HasPrefix(s, "/redfish/") && !k.forms.url.MatchString(s) && (len(s) > 64 || len(strings.Fields(s)) > words) {
		return scrubbed
	}
	s = k.replace(s, true)
	if strings.HasPrefix(s, "/redfish/") {
		return s
	}
	return each(k.forms.run, s, "", func(run string) string {
		for _, fake := range k.words {
			if run == fake {
				return run
			}
		}
		if instance(run) && !k.fakeDigits(run) {
			return scrubbed
		}
		return run
	})
}

// fakeDigits says whether a run stands for an address or UUID already.
func (k *identities) fakeDigits(run string) bool {
	run = strings.ToLower(run)
	return strings.HasPrefix(run, "02005e") || strings.HasPrefix(run, "ca00")
}

// replace puts what stands for it in the place of each known identity, and of what has the form of one.
func (k *identities) replace(s string, addresses bool) string {
	s = k.forms.url.ReplaceAllStringFunc(s, func(u string) string {
		scheme, _, _ := strings.Cut(u, "://")
		return scheme + "://192.0.2.1/" + scrubbed
	})
	s = k.forms.disk.ReplaceAllStringFunc(s, func(found string) string {
		m := k.forms.disk.FindStringSubmatch(found)
		if known := k.words[m[2]]; known != "" {
			return m[1] + known
		}
		return m[1] + scrubbed
	})
	s = k.forms.uuid.ReplaceAllStringFunc(s, func(found string) string {
		if known := k.uuids[digitsOf(found)]; known != "" {
			return written(known, found)
		}
		return found
	})
	for _, w := range k.longest() {
		s = k.word(s, w)
	}
	s = k.hardware(s)
	if !addresses {
		return s
	}
	for _, form := range []*regexp.Regexp{k.forms.ipv4, k.forms.ipv6} {
		s = each(form, s, ".:", func(found string) string {
			a, ok := addressOf(found)
			if !ok {
				return found
			}
			if known, ok := k.ips[a]; ok {
				return known.String()
			}
			return found
		})
	}
	return s
}

// hardware replaces the addresses of interfaces in each form, within longer words as well.
func (k *identities) hardware(s string) string {
	s = k.forms.mac.ReplaceAllStringFunc(s, func(found string) string {
		if known := k.macs[digitsOf(found)]; known != "" {
			return written(known, found)
		}
		return found
	})
	for bare, fake := range k.macs {
		for _, form := range []string{bare, strings.ToUpper(bare), paired(bare, ':'), strings.ToUpper(paired(bare, ':')), paired(bare, '-'), strings.ToUpper(paired(bare, '-'))} {
			if strings.Contains(s, form) {
				s = strings.ReplaceAll(s, form, written(fake, form))
			}
		}
	}
	return s
}

// word replaces a word: a long one anywhere, a short one where it stands alone.
func (k *identities) word(s, w string) string {
	if !strings.Contains(s, w) {
		return s
	}
	if len(w) >= 8 && telling(w) {
		return strings.ReplaceAll(s, w, k.words[w])
	}
	return each(regexp.MustCompile(regexp.QuoteMeta(w)), s, "", func(string) string { return k.words[w] })
}

// note is what a capture says of itself.
type note struct {
	Version   int    `json:"version"`
	Form      string `json:"form"`
	Resources int    `json:"resources"`
	LeftOut   int    `json:"leftOut"`
}

func (r *Recorder) note(n int) note {
	return note{1, fmt.Sprintf("Redfish answers to GET, each as index.json in the folder of its path; %s stands for what is not kept", scrubbed), n, r.left}
}
