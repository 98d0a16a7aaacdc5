package decode

import (
	"bytes"
	"slices"
	"strings"

	"rackboot/cmd/internal/cli/publickey"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// captured is one message as it was found.
type captured struct {
	line  int    // in a capture of lines, from 1; else 0
	topic string // empty if the capture does not say
	data  []byte
}

// parseCapture finds the messages in what was captured:
//
//   - the bytes of one message;
//   - one message in hexadecimal or base64, with white space anywhere;
//   - lines of one message each, with its topic and a space before it or not.
//     Empty lines and lines that begin with # are passed over.
func parseCapture(raw []byte) ([]captured, error) {
	if bytes.HasPrefix(raw, []byte{0xd2, 0x84}) || !isText(raw) {
		if cut, ok := bytes.CutSuffix(raw, []byte("\n")); ok && !sealed(raw) && sealed(cut) {
			raw = cut // mosquitto_sub ends each message so, without -N
		}
		return []captured{{data: raw}}, nil
	}
	var lines []captured
	topics := 0
	for i, line := range strings.Split(string(raw), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := captured{line: i + 1}
		if first, rest, _ := strings.Cut(line, " "); isTopic(first, rest) {
			c.topic, line = first, rest
			topics++
		}
		data, ok := publickey.Decode(line)
		if !ok {
			data = nil // said below, or the line is a part of one message
		}
		c.data = data
		lines = append(lines, c)
	}
	if len(lines) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read capture", "there is no message in it").
			WithHint("give bytes, hexadecimal or base64 of a message, or lines of topic and message")
	}
	if topics == 0 {
		// One message over several lines, unless each line is a message by itself.
		if data, ok := publickey.Decode(string(raw)); ok && (len(lines) == 1 || sealed(data) || slices.ContainsFunc(lines, func(c captured) bool { return !begins(c) })) {
			return []captured{{data: data}}, nil
		}
	}
	for _, c := range lines {
		if c.data == nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, "read capture", "line %d is neither hexadecimal nor base64", c.line).
				WithHint("print lines of topic and message in hexadecimal: mosquitto_sub -F '%%t %%x'")
		}
	}
	return lines, nil
}

func isText(raw []byte) bool {
	return !bytes.ContainsFunc(raw, func(r rune) bool { return r > '~' || (r < ' ' && r != '\n' && r != '\r' && r != '\t') })
}

// isTopic says whether the first word of a line is a topic: one of ours, or a bridge's
// with a message behind it. Base64 has slashes too.
func isTopic(first, rest string) bool {
	if strings.HasPrefix(first, "rb/v1/") {
		return true
	}
	data, ok := publickey.Decode(rest)
	return ok && strings.Contains(first, "/") && begins(captured{data: data})
}

func sealed(data []byte) bool {
	_, err := wire.Inspect(data)
	return err == nil
}

func begins(c captured) bool { return bytes.HasPrefix(c.data, []byte{0xd2, 0x84}) }
