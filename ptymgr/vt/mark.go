package vt

import (
	"bytes"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark is one complete sequence by which a shell tells of its prompts, commands or directory. Whether the shell sent it,
// or somebody who would like to be taken for it, is for the caller to find out.
type Mark struct {
	From, To int // of the sequence, in the bytes that were scanned
	Kind     MarkKind
	Line     string // MarkLine and MarkExecuted: valid UTF-8, no controls but newline and tab; "" if it does not say
	Cwd      string // MarkProperty and MarkURI: an absolute path; "" if it does not say, or on another host
	Code     *int   // MarkFinished: nil if it does not say
	Nonce    string // "" if there is none
}

// MarkKind tells what a Mark is, by the letter that OSC 633 has for it (https://code.visualstudio.com/docs/terminal/shell-integration).
type MarkKind byte

// The kinds of Mark. OSC 133 has the first four as well.
const (
	MarkPrompt   MarkKind = 'A' // a prompt starts
	MarkInput    MarkKind = 'B' // the prompt ends; what is typed comes after
	MarkExecuted MarkKind = 'C' // a command starts; its output comes after
	MarkFinished MarkKind = 'D' // the output of the command ends
	MarkLine     MarkKind = 'E' // the line of the command to come
	MarkProperty MarkKind = 'P' // a property of the shell, such as its directory
	MarkURI      MarkKind = '7' // OSC 7, which is no part of the others: the directory
)

// mark notes the mark that [from, to) is, if it is one: the OSC with this number and text.
func (f *Findings) mark(from, to, number int, text []byte) {
	m := Mark{From: from, To: to}
	ok := false
	switch number {
	case 7:
		m.Kind, m.Cwd, ok = MarkURI, localPath(string(text)), true
	case 133:
		ok = m.parse133(text)
	case 633:
		ok = m.parse633(text)
	}
	if ok {
		f.Marks = append(f.Marks, m)
	}
}

// parse633 reads a mark as VS Code has it. Every one may end with a nonce.
func (m *Mark) parse633(text []byte) bool {
	letter, rest := nextField(text)
	if len(letter) != 1 {
		return false
	}
	m.Kind = MarkKind(letter[0])
	var value []byte
	switch m.Kind {
	case MarkPrompt, MarkInput, MarkExecuted:
	case MarkFinished:
		value, rest = nextField(rest)
		m.Code = exitCode(value)
	case MarkLine:
		value, rest = nextField(rest)
		m.Line = commandLine(unescape(value))
	case MarkProperty:
		value, rest = nextField(rest)
		if dir, ok := bytes.CutPrefix(value, []byte("Cwd=")); ok {
			m.Cwd = absolutePath(unescape(dir))
		}
	default:
		return false
	}
	nonce, _ := nextField(rest)
	m.Nonce = string(nonce)
	return true
}

// parse133 reads a mark as FinalTerm had it. What follows the letter is not the same everywhere; fish gives the command
// line with C.
func (m *Mark) parse133(text []byte) bool {
	letter, rest := nextField(text)
	if len(letter) != 1 {
		return false
	}
	m.Kind = MarkKind(letter[0])
	switch m.Kind {
	case MarkPrompt, MarkInput:
	case MarkExecuted:
		for len(rest) > 0 {
			var option []byte
			option, rest = nextField(rest)
			if line, ok := bytes.CutPrefix(option, []byte("cmdline_url=")); ok {
				line, err := url.PathUnescape(string(line))
				if err == nil {
					m.Line = commandLine(line)
				}
			}
		}
	case MarkFinished:
		code, _ := nextField(rest)
		m.Code = exitCode(code)
	default:
		return false
	}
	return true
}

func nextField(text []byte) (field, rest []byte) {
	field, rest, _ = bytes.Cut(text, []byte{';'})
	return field, rest
}

func exitCode(text []byte) *int {
	code, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil {
		return nil
	}
	return new(int(code))
}

// unescape decodes \\ and \xNN, which stand for bytes that a value must not have.
func unescape(value []byte) string {
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value)
	}
	text := make([]byte, 0, len(value))
	for len(value) > 0 {
		switch {
		case bytes.HasPrefix(value, []byte(`\\`)):
			text, value = append(text, '\\'), value[2:]
			continue
		case len(value) >= 4 && bytes.HasPrefix(value, []byte(`\x`)):
			if b, err := strconv.ParseUint(string(value[2:4]), 16, 8); err == nil {
				text, value = append(text, byte(b)), value[4:]
				continue
			}
		}
		text, value = append(text, value[0]), value[1:]
	}
	return string(text)
}

// commandLine makes a line fit to be shown, and to be typed again.
func commandLine(line string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, strings.ToValidUTF8(line, "\uFFFD"))
}

// absolutePath returns the path without detours, or "" if it is not one that every door can name.
func absolutePath(p string) string {
	if !path.IsAbs(p) || !utf8.ValidString(p) || strings.ContainsRune(p, 0) {
		return ""
	}
	return path.Clean(p)
}
