package heads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Record is what a file says that a store had.
type Record struct {
	Checkpoint
	// Known says that there is a checkpoint. Whole says that Keys are all keys of then.
	Known bool
	Whole bool
	Keys  map[string]Key
	// Size is how much of the file is of whole lines up to the last checkpoint, in bytes.
	Size int64
}

// AppendKey appends the line of a key that is there.
func AppendKey(to []byte, k Key) []byte {
	return appendLine(to, fmt.Sprintf("+ %s %d %d %s", k.Name, k.Revision, k.Sum, strconv.QuoteToASCII(k.Note)))
}

// AppendGone appends the line of a key that is not there any more.
func AppendGone(to []byte, key string) []byte { return appendLine(to, "- "+key) }

// AppendCheckpoint appends the line that says that everything before is so.
func AppendCheckpoint(to []byte, c Checkpoint) ([]byte, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return appendLine(to, "= "+string(raw)), nil
}

func appendLine(to []byte, text string) []byte {
	return fmt.Appendf(to, "%08x %s\n", crc32.ChecksumIEEE([]byte(text)), text)
}

// Parse reads a file. What cannot be read is passed over, so that the newest checkpoint counts that can;
// then the names are not whole, unless it is what a crash left behind the last one.
func Parse(file []byte) Record {
	r := Record{Keys: map[string]Key{}}
	type step struct {
		key  Key
		gone bool
	}
	var open []step // since the last checkpoint
	var read int64
	for len(file) > 0 {
		line, rest, ended := bytes.Cut(file, []byte("\n"))
		read += int64(len(file) - len(rest))
		file = rest
		text, ok := body(line)
		if !ok || !ended {
			open = nil // of lines that belong together one is missing
			continue
		}
		switch op, said, _ := strings.Cut(text, " "); op {
		case "+":
			if k, ok := parseKey(said); ok {
				open = append(open, step{key: k})
			}
		case "-":
			open = append(open, step{key: Key{Name: said}, gone: true})
		case "=":
			var c Checkpoint
			if json.Unmarshal([]byte(said), &c) != nil || c.Store == "" {
				continue
			}
			for _, s := range open {
				if s.gone {
					delete(r.Keys, s.key.Name)
				} else {
					r.Keys[s.key.Name] = s.key
				}
			}
			open = nil
			r.Checkpoint, r.Known, r.Size = c, true, read
		}
	}
	r.Whole = r.Known && maps.Equal(Sums(r.Keys), nonEmpty(r.Kinds))
	return r
}

// body is what a line says, if its sum is right.
func body(line []byte) (string, bool) {
	sum, text, ok := strings.Cut(string(line), " ")
	want, err := strconv.ParseUint(sum, 16, 32)
	return text, ok && err == nil && len(sum) == 8 && uint32(want) == crc32.ChecksumIEEE([]byte(text))
}

func parseKey(said string) (k Key, ok bool) {
	f := strings.SplitN(said, " ", 4)
	if len(f) != 4 {
		return k, false
	}
	rev, err1 := strconv.ParseUint(f[1], 10, 64)
	sum, err2 := strconv.ParseUint(f[2], 10, 32)
	note, err3 := strconv.Unquote(f[3])
	return Key{f[0], rev, uint32(sum), note}, err1 == nil && err2 == nil && err3 == nil
}

func nonEmpty(sums map[string]Sum) map[string]Sum {
	out := maps.Clone(sums)
	maps.DeleteFunc(out, func(_ string, s Sum) bool { return s.Count == 0 })
	if out == nil {
		out = map[string]Sum{}
	}
	return out
}

// Sorted are keys in the order of their names.
func Sorted(keys map[string]Key) []Key {
	return slices.SortedFunc(maps.Values(keys), func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
}
