package manifest

import "strings"

// chunk is the text of one document.
type chunk struct {
	text  string
	skip  int  // lines of the file before it
	first int  // line of its first text that is no comment, or where it begins
	empty bool // it has only comments and white space
}

// split takes a file apart at its document markers. At the beginning of a line
// "---" and "..." are nothing else, even within quotes or block text (YAML 1.2,
// production c-forbidden). Each document is parsed by itself, because the YAML
// parser loses what follows a document that has only comments.
func split(lines []string) []chunk {
	var out []chunk
	begin := 0
	var part []string
	end := func(next int) {
		c := chunk{text: strings.Join(part, "\n") + "\n", skip: begin, first: begin + 1, empty: true}
		for i, l := range part {
			if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
				c.first, c.empty = begin+i+1, false
				break
			}
		}
		out = append(out, c)
		begin, part = next, nil
	}
	for i, l := range lines {
		switch {
		case marker(l, "---"):
			end(i)
			part = []string{"   " + l[3:]}
		case marker(l, "..."):
			end(i)
			part = []string{"   " + l[3:]}
		default:
			part = append(part, l)
		}
	}
	end(len(lines))
	return out
}

func marker(line, mark string) bool {
	rest, ok := strings.CutPrefix(line, mark)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \t\r"))
}
