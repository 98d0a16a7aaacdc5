package ignition

import (
	"strings"
	"testing"

	"rackboot/protocol"
)

// in2 is a stub of 2.4.0 with more in it.
func in2(version, rest string) string {
	return `{"ignition":{"version":"` + version + `"}` + rest + `}`
}

func storage(rest string) string { return in2("2.4.0", `,"storage":{`+rest+`}`) }

func onRoot(path, rest string) string {
	return `{"filesystem":"root","path":"` + path + `","mode":420` + rest + `}`
}

// TestRefusals: facts boot-images §2.2, §2.3 and §5 rows 13 to 15. No refusal has
// anything of the stub but the path.
func TestRefusals(t *testing.T) {
	t.Parallel()
	seen := map[Class]bool{}
	for _, row := range []struct {
		name, raw string
		max       string
		class     Class
		path      string
		message   string // a part of it
	}{
		// §2.2: what is no stub at all.
		{"empty", " \n", "", NotIgnition, "$", "empty"},
		{"cloud-config", "#cloud-config\nusers: [" + canary + "]", "", CloudConfig, "$", "cloud-init"},
		{"a script", "#!/bin/sh\necho " + canary, "", Script, "$", "script"},
		{"text", canary, "", NotIgnition, "$", "JSON"},
		{"cut off", `{"ignition":{"version":"2.2.0"},"` + canary, "", NotIgnition, "$", "JSON"},
		{"two values", `{} {"` + canary + `":1}`, "", NotIgnition, "$", "JSON"},
		{"no UTF-8", "{\"\xff\":1}", "", NotIgnition, "$", "UTF-8"},
		{"gzip", "\x1f\x8b\x08", "", NotIgnition, "$", ""},
		// §5 row 15: valid JSON that is no object.
		{"a list", `[{"` + canary + `":1}]`, "", NotAnObject, "$", ""},
		{"null", `null`, "", NotAnObject, "$", ""},
		{"a string", `"` + canary + `"`, "", NotAnObject, "$", ""},
		{"a number", `7`, "", NotAnObject, "$", ""},
		{"deep", strings.Repeat("[", 100) + strings.Repeat("]", 100), "", Invalid, "$[0][0]", "deeper"},
		{"a member twice", `{"ignition":{"version":"2.2.0","version":"` + canary + `"}}`, "", Invalid, "$.ignition.version", "twice"},
		{"an unknown member twice", `{"ignition":{"` + canary + `":{"a":1,"a":2}}}`, "", Invalid, "$.ignition", "twice"},
		// Versions.
		{"no version", `{}`, "", UnknownVersion, "$.ignition.version", "missing"},
		{"ignition is no object", `{"ignition":"` + canary + `"}`, "", UnknownVersion, "$.ignition.version", "missing"},
		{"a version that is no string", `{"ignition":{"version":2}}`, "", UnknownVersion, "$.ignition.version", "string"},
		{"2.5", in2("2.5.0-experimental", ""), "", UnknownVersion, "$.ignition.version", "2.4.0"},
		{"garbage", in2(canary, ""), "", UnknownVersion, "$.ignition.version", ""},
		{"specification 1, but 2", `{"ignitionVersion":2}`, "", UnknownVersion, "$.ignitionVersion", "1"},
		{"3.7", in2("3.7.0-experimental", ""), "", TooNew, "$.ignition.version", "3.6.0"},
		// §2.4, §5 row 14: pairs that cannot boot.
		{"3.5 for 3.4", in2("3.5.0", ""), "3.4.0", TooNew, "$.ignition.version", "3.4.0"},
		{"3.0 for 2.4", in2("3.0.0", ""), "2.4.0", TooNew, "$.ignition.version", "2.4.0"},
		{"2.3 for 2.2", in2("2.3.0", ""), "2.2.0", TooNew, "$.ignition.version", "2.2.0"},
		{"a proxy for 3.0", `{"ignition":{"version":"2.4.0","proxy":{"httpProxy":"http://` + canary + `"}}}`, "3.0.0", TooNew, "$.ignition.proxy", "3.1.0"},
		{"headers for 3.0", storage(`"files":[` + onRoot("/a", `,"contents":{"source":"https://x/","httpHeaders":[{"name":"A","value":"`+canary+`"}]}`) + `]`), "3.0.0", TooNew, "$.storage.files[0].contents.httpHeaders", "3.1.0"},
		// §2.2: the converter's classes.
		{"networkd", in2("2.0.0", `,"networkd":{"units":[{"name":"00-a.network"}]}`), "", UsesNetworkd, "$.networkd.units", "/etc/systemd/network"},
		{"a filesystem nobody mounts", storage(`"filesystems":[{"name":"var","mount":{"device":"/dev/` + canary + `","format":"xfs"}}],"files":[{"filesystem":"var","path":"/a"}]`), "", NoFilesystem, "$.storage.filesystems[0]", "mount unit"},
		{"a place of the live system", storage(`"filesystems":[{"name":"oem","path":"/usr/share/oem"}],"files":[{"filesystem":"oem","path":"/a"}]`), "", NoFilesystem, "$.storage.filesystems[0].path", "live"},
		{"two files", storage(`"files":[` + onRoot("/"+canary, "") + `,` + onRoot("/x/../"+canary, "") + `]`), "", DuplicateInode, "$.storage.files[1].path", "earlier"},
		{"a file and a directory", storage(`"files":[` + onRoot("/a", "") + `],"directories":[` + onRoot("/a", "") + `]`), "", DuplicateInode, "$.storage.directories[0].path", ""},
		{"a directory and a link", storage(`"directories":[` + onRoot("/a", "") + `],"links":[{"filesystem":"root","path":"/a","target":"/b"}]`), "", DuplicateInode, "$.storage.links[0].path", ""},
		{"a file below a link", storage(`"files":[` + onRoot("/etc/l/a", "") + `],"links":[{"filesystem":"root","path":"/etc/l","target":"/b"}]`), "", UsesOwnLink, "$.storage.files[0].path", "link"},
		{"a link below a link", storage(`"links":[{"filesystem":"root","path":"/etc/l","target":"/b"},{"filesystem":"root","path":"/etc/l/x/m","target":"/b"}]`), "", UsesOwnLink, "$.storage.links[1].path", "link"},
		{"a unit twice", in2("2.1.0", `,"systemd":{"units":[{"name":"`+canary+`.service"},{"name":"`+canary+`.service"}]}`), "", DuplicateUnit, "$.systemd.units[1].name", ""},
		{"a drop-in twice", in2("2.1.0", `,"systemd":{"units":[{"name":"a.service","dropins":[{"name":"a.conf"},{"name":"a.conf"}]}]}`), "", DuplicateDropin, "$.systemd.units[0].dropins[1].name", ""},
		{"sectors that are no MiB", in2("2.2.0", `,"storage":{"disks":[{"device":"/dev/sda","partitions":[{"number":1},{"number":2,"size":1000}]}]}`), "", Deprecated, "$.storage.disks[0].partitions[1].size", "512"},
		{"a start that is no MiB", `{"ignitionVersion":1,"storage":{"disks":[{"device":"/dev/sda","partitions":[{"number":1,"size":2048,"start":63}]}]}}`, "", Deprecated, "$.storage.disks[0].partitions[0].start", "512"},
		// §2.3.3: what would be lost.
		{"an unknown section", in2("2.2.0", `,"`+canary+`":{}`), "", WouldLose, "$", "does not know"},
		{"an unknown field", storage(`"files":[` + onRoot("/a", `,"`+canary+`":1`) + `]`), "", WouldLose, "$.storage.files[0]", "does not know"},
		{"a field of a later version", in2("2.1.0", `,"storage":{"files":[`+onRoot("/a", `,"append":true`)+`]}`), "", WouldLose, "$.storage.files[0]", "does not know"},
		{"the account's creation", in2("2.2.0", `,"passwd":{"users":[{"name":"core","create":{"gecos":"`+canary+`"}}]}`), "", WouldLose, "$.passwd.users[0].create", "user itself"},
		{"the account's creation in 1", `{"ignitionVersion":1,"passwd":{"users":[{"name":"core","create":{}}]}}`, "", WouldLose, "$.passwd.users[0].create", "user itself"},
		{"a root filesystem made anew", in2("2.0.0", `,"storage":{"filesystems":[{"name":"root","mount":{"device":"/dev/disk/by-label/ROOT","format":"btrfs","create":{"force":true}}}]}`), "", WouldLose, "$.storage.filesystems[0].mount", "anew"},
		{"a root filesystem made anew in 1", `{"ignitionVersion":1,"storage":{"filesystems":[{"device":"/dev/disk/by-label/ROOT","format":"btrfs","create":{"force":true}}]}}`, "", WouldLose, "$.storage.filesystems[0]", "anew"},
		{"another root filesystem", storage(`"filesystems":[{"name":"root","mount":{"device":"/dev/sda9","format":"xfs"}}]`), "", WouldLose, "$.storage.filesystems[0].mount", "anew"},
		{"a file on a filesystem that is not there", storage(`"files":[{"filesystem":"` + canary + `","path":"/a"}]`), "", WouldLose, "$.storage.files[0].filesystem", "root filesystem"},
		{"setuid", storage(`"files":[` + strings.Replace(onRoot("/a", ""), "420", "2541", 1) + `]`), "", WouldLose, "$.storage.files[0].mode", "setuid"},
		{"sticky", storage(`"directories":[` + strings.Replace(onRoot("/a", ""), "420", "1023", 1) + `]`), "", WouldLose, "$.storage.directories[0].mode", "sticky"},
		{"creation without force", storage(`"filesystems":[{"mount":{"device":"/dev/sdb","format":"ext4","create":{}}}]`), "", WouldLose, "$.storage.filesystems[0].mount.create", "fail"},
		// What is not valid, in 2 or in what it would be in 3.
		{"a field of another type", storage(`"files":{"` + canary + `":1}`), "", Invalid, "$.storage.files", "type"},
		{"a number for a word", storage(`"disks":[{"device":7}]`), "", Invalid, "$.storage.disks[0].device", "type"},
		{"a word for a truth", storage(`"disks":[{"device":"/dev/sda","wipeTable":"` + canary + `"}]`), "", Invalid, "$.storage.disks[0].wipeTable", "type"},
		{"a truth for a list", storage(`"disks":true`), "", Invalid, "$.storage.disks", "type"},
		{"a list for an object", in2("2.4.0", `,"storage":[]`), "", Invalid, "$.storage", "type"},
		{"unnamed partitions", in2("2.1.0", `,"storage":{"disks":[{"device":"/dev/sda","partitions":[{"size":2048},{"size":4096}]}]}`), "", Invalid, "$.storage.disks[0].partitions[1]", "same partition label"},
		{"a list of null", storage(`"files":[null]`), "", Invalid, "$.storage.files[0]", "null"},
		{"a number with a fraction", storage(`"files":[` + strings.Replace(onRoot("/a", ""), "420", "420.5", 1) + `]`), "", Invalid, "$.storage.files[0].mode", "type"},
		{"other capitals", storage(`"Files":[]`), "", Invalid, "$.storage.files", "capitals"},
		{"no filesystem", storage(`"files":[{"path":"/a"}]`), "", Invalid, "$.storage.files[0].filesystem", "missing"},
		{"a relative path", storage(`"links":[{"filesystem":"root","path":"` + canary + `","target":"/"}]`), "", Invalid, "$.storage.links[0].path", "absolute"},
		{"a path longer than Linux has", storage(`"files":[` + onRoot("/"+strings.Repeat("a/", 2048), "") + `]`), "", Invalid, "$.storage.files[0].path", "longer"},
		{"a mode out of range", storage(`"files":[` + strings.Replace(onRoot("/a", ""), "420", "4096", 1) + `]`), "", Invalid, "$.storage.files[0].mode", "mode"},
		{"appended and replaced", storage(`"files":[` + onRoot("/a", `,"append":true,"overwrite":true`) + `]`), "", Invalid, "$.storage.files[0].overwrite", "append"},
		{"neither mount nor path", storage(`"filesystems":[{"name":"x"}]`), "", Invalid, "$.storage.filesystems[0]", "either"},
		{"both mount and path", storage(`"filesystems":[{"name":"x","path":"/sysroot","mount":{}}]`), "", Invalid, "$.storage.filesystems[0]", "either"},
		{"a filesystem twice", storage(`"filesystems":[{"name":"x","path":"/a"},{"name":"x","path":"/b"}]`), "", Invalid, "$.storage.filesystems[1].name", "earlier"},
		{"a relative place", storage(`"filesystems":[{"name":"x","path":"a"}]`), "", Invalid, "$.storage.filesystems[0].path", "absolute"},
		{"creation and options", storage(`"filesystems":[{"mount":{"device":"/dev/sdb","format":"ext4","wipeFilesystem":true,"create":{}}}]`), "", Invalid, "$.storage.filesystems[0].mount.create", "together"},
		{"vfat in 2.0", in2("2.0.0", `,"storage":{"filesystems":[{"mount":{"device":"/dev/sdb","format":"vfat"}}]}`), "", Invalid, "$.storage.filesystems[0].mount.format", "format"},
		{"an unknown format", storage(`"filesystems":[{"name":"r","path":"/sysroot"},{"mount":{"device":"/dev/sdb","format":"` + canary + `"}}]`), "", Invalid, "$.storage.filesystems[1].mount.format", "format"},
		{"sectors and MiB", in2("2.3.0", `,"storage":{"disks":[{"device":"/dev/sda","partitions":[{"number":1,"size":2048,"sizeMiB":1}]}]}`), "", Invalid, "$.storage.disks[0].partitions[0]", "MiB"},
		{"a negative size", in2("2.2.0", `,"storage":{"disks":[{"device":"/dev/sda","partitions":[{"number":1,"size":-2048}]}]}`), "", Invalid, "$.storage.disks[0].partitions[0].size", "negative"},
		{"very many partitions", in2("2.2.0", `,"storage":{"disks":[{"device":"/dev/sda","partitions":[`+strings.Repeat(`{},`, 128)+`{}]}]}`), "", Invalid, "$.storage.disks[0].partitions", "128"},
		{"a header without value", `{"ignition":{"version":"2.4.0","config":{"append":[{"source":"https://x/","httpHeaders":[{"name":"A"}]}]}}}`, "", Invalid, "$.ignition.config.append[0].httpHeaders[0].value", "empty"},
		{"a scheme that is gone", storage(`"files":[` + onRoot("/a", `,"contents":{"source":"oem:///`+canary+`"}`) + `]`), "", Invalid, "$.storage.files[0].contents.source", "scheme"},
		{"nothing to append", `{"ignition":{"version":"2.2.0","config":{"append":[{}]}}}`, "", Invalid, "$.ignition.config.append[0].source", "source"},
		{"nothing to replace it", `{"ignition":{"version":"2.2.0","config":{"replace":{}}}}`, "", Invalid, "$.ignition.config.replace.source", "source"},
		{"one source twice", `{"ignition":{"version":"2.2.0","config":{"append":[{"source":"https://x/` + canary + `"},{"source":"https://x/` + canary + `"}]}}}`, "", Invalid, "$.ignition.config.append[1]", "dup"},
		{"a user twice", in2("2.2.0", `,"passwd":{"users":[{"name":"`+canary+`"},{"name":"`+canary+`"}]}`), "", Invalid, "$.passwd.users[1]", "dup"},
		{"3 that is not valid", `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"` + canary + `"}]}}`, "", Invalid, "$.storage.files[0].path", "absolute"},
		{"Butane that is not valid", "variant: fcos\nversion: 1.5.0\nstorage:\n  files:\n    - path: " + canary + "\n", "", Invalid, "$.storage.files[0].path", "absolute"},
		// What is included.
		{"an included script", includingOf("2.2.0", "append", "#!"+canary), "", Script, "$.ignition.config.append[0].source>$", ""},
		{"an included loss", includingOf("2.2.0", "append", in2("2.2.0", `,"`+canary+`":1`)), "", WouldLose, "$.ignition.config.append[0].source>$", "does not know"},
		{"2 in 3", includingOf("3.2.0", "merge", in2("2.2.0", "")), "", Invalid, "$.ignition.config.merge[0].source", "another"},
		{"3.5 in 3.1", includingOf("3.1.0", "merge", in2("3.5.0", "")), "3.4.0", TooNew, "$.ignition.config.merge[0].source>$.ignition.version", "3.4.0"},
		{"another hash", strings.Replace(includingOf("2.2.0", "append", in2("2.2.0", "")), `"source"`, `"verification":{"hash":"sha512-`+strings.Repeat("0", 128)+`"},"source"`, 1), "", Invalid, "$.ignition.config.append[0].source", "hash"},
		{"a hash of another kind", strings.Replace(includingOf("2.2.0", "append", in2("2.2.0", "")), `"source"`, `"verification":{"hash":"md5-0"},"source"`, 1), "", Invalid, "$.ignition.config.append[0].verification.hash", "hash"},
		{"too deep", nestedTimes(6), "", Invalid, strings.Repeat("$.ignition.config.append[0].source>", 4) + "$.ignition.config.append[0].source", "deep"},
	} {
		_, err := Translate([]byte(row.raw), TranslateOptions{Max: row.max})
		r := refusalOf(err)
		if r == nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		seen[r.Class] = true
		path := r.Path
		if row.name == "deep" {
			path = path[:min(len(path), 7)]
		}
		if r.Class != row.class || path != row.path || !strings.Contains(r.Message, row.message) {
			t.Errorf("%s: %v; want %s at %s", row.name, err, row.class, row.path)
		}
		if strings.Contains(err.Error(), canary) || strings.Contains(protocol.HintOf(err), canary) || protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v has what is in the stub", row.name, err)
		}
		if r.Class == WouldLose {
			if out, err := Translate([]byte(row.raw), TranslateOptions{Max: row.max, AcceptLoss: true}); err != nil || len(out.Lost) == 0 {
				t.Errorf("%s: accepted, and still %v", row.name, err)
			}
		}
	}
	for _, c := range classes {
		if !seen[c] {
			t.Errorf("no stub is refused as %s", c)
		}
	}
}

// includingOf is a stub that includes another in its URL.
func includingOf(version, how, inner string) string {
	return `{"ignition":{"version":"` + version + `","config":{"` + how + `":[{"source":"` + dataURL([]byte(inner)) + `"}]}}}`
}

func nestedTimes(n int) string {
	inner := in2("2.2.0", "")
	for range n {
		inner = includingOf("2.2.0", "append", inner)
	}
	return inner
}
