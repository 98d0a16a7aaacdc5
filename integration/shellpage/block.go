package shellpage

import (
	"regexp"
	"strings"
)

// Block is a code block of a page.
type Block struct {
	Line int // of its first line of code, from 1
	// Language is the first word behind the fence, empty where there is none. An indented
	// block has no fence.
	Language string
	Indented bool
	// Example is why nobody runs the block: ```sh example: needs a registry of your own.
	Example string
	// Picture is the file with what the last command of the block shows: ```sh picture: servers.svg.
	Picture string
	// Info is anything else behind the language.
	Info string
	Text string
}

// Runs says whether a reader is meant to run the block, and a test does.
func (b Block) Runs() bool { return b.Language == "sh" && b.Example == "" }

// Title is its first line.
func (b Block) Title() string {
	first, _, _ := strings.Cut(strings.TrimSpace(b.Text), "\n")
	return first
}

// Last is its last line.
func (b Block) Last() string {
	text := strings.TrimSpace(b.Text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

var (
	fence = regexp.MustCompile("^( *)(```+|~~~+) *([^ `]*) *([^`]*)$") // of a block
	item  = regexp.MustCompile(`^ *([-*+]|[0-9]+[.)]) +\S`)            // of a list
)

// Blocks are the code blocks of a page, in order. Blocks in lists are found as others; an
// indented block is one of four spaces that no list begins.
func Blocks(page string) (out []Block) {
	var open *Block
	closing, margin, inList, blank := "", "", false, true
	for n, line := range strings.Split(page, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case open != nil && !open.Indented && m != nil && strings.HasPrefix(m[2], closing) && m[3] == "":
			out, open = append(out, *open), nil
		case open != nil && !open.Indented:
			open.Text += strings.TrimPrefix(line, margin) + "\n"
		case m != nil:
			if open != nil {
				out = append(out, *open)
			}
			open = &Block{Line: n + 2, Language: m[3]}
			if why, ok := strings.CutPrefix(m[4], "example: "); ok {
				open.Example = strings.TrimSpace(why)
			} else if file, ok := strings.CutPrefix(m[4], "picture: "); ok {
				open.Picture = strings.TrimSpace(file)
			} else {
				open.Info = strings.TrimSpace(m[4])
			}
			margin, closing = m[1], m[2]
		case open != nil && strings.HasPrefix(line, "    "):
			open.Text += line[4:] + "\n"
		case open != nil && strings.TrimSpace(line) == "":
			open.Text += "\n"
		case strings.HasPrefix(line, "    ") && strings.TrimSpace(line) != "" && blank && !inList:
			open = &Block{Line: n + 1, Indented: true, Text: line[4:] + "\n"}
		default:
			if open != nil {
				out, open = append(out, *open), nil
			}
			switch {
			case item.MatchString(line):
				inList = true
			case line != "" && line[0] != ' ':
				inList = false
			}
		}
		blank = strings.TrimSpace(line) == ""
	}
	if open != nil {
		out = append(out, *open)
	}
	return out
}
