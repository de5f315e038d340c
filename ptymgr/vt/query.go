package vt

import "bytes"

// Query is a request in the output that a terminal answers by writing to the pty.
type Query struct {
	From, To int // offsets in the bytes that were scanned
	Kind     QueryKind
}

// QueryKind tells the queries apart that the server can answer.
type QueryKind uint8

const (
	QueryNone  QueryKind = iota
	QueryOther           // what only a terminal can answer
	QueryDA1             // primary device attributes
	QueryDA2             // secondary device attributes
	QueryDSR5            // operating status
	QueryFocus           // focus mode is switched on, and xterm.js says at once whether it has the focus
)

// Beside what xterm.js 6 answers, these functions count what xterm (ctlseqs) and kitty would.

func queryEscape(ident uint32) QueryKind {
	if ident == 'Z' { // DECID
		return QueryOther
	}
	return QueryNone
}

func queryDCS(ident uint32) QueryKind {
	switch ident {
	case '$'<<8 | 'q', '+'<<8 | 'q': // DECRQSS, XTGETTCAP
		return QueryOther
	}
	return QueryNone
}

func queryCSI(ident uint32, ps *params) QueryKind {
	first := ps.values[0]
	switch ident {
	case 'c':
		if first == 0 {
			return QueryDA1
		}
		return QueryOther
	case '>'<<8 | 'c':
		if first == 0 {
			return QueryDA2
		}
		return QueryOther
	case 'n':
		if first == 5 {
			return QueryDSR5
		}
		return QueryOther
	case 't':
		switch first {
		case 11, 13, 14, 15, 16, 18, 19, 20, 21:
			return QueryOther
		}
	case '?'<<8 | 'h':
		for _, value := range ps.values[:ps.n] {
			if value == focusMode {
				return QueryFocus
			}
		}
	case '='<<8 | 'c', // DA3
		'?'<<8 | 'n',           // DECDSR
		'$'<<8 | 'p',           // DECRQM
		'?'<<16 | '$'<<8 | 'p', // DECRQM
		'>'<<8 | 'q',           // XTVERSION
		'?'<<8 | 'u',           // kitty's keyboard flags
		'?'<<8 | 'm',           // XTQMODKEYS
		'?'<<8 | 'S',           // XTSMGRAPHICS
		'x',                    // DECREQTPARM
		'*'<<8 | 'y',           // DECRQCRA
		'$'<<8 | 'w',           // DECRQPSR
		'$'<<8 | 'u',           // DECRQTSR
		'&'<<8 | 'u',           // DECRQUPSS
		'"'<<8 | 'v',           // DECRQDE
		'\''<<8 | '|',          // DECRQLP
		'#'<<8 | 'R',           // XTREPORTCOLORS
		'#'<<8 | 'S',           // XTTITLEPOS
		'#'<<8 | '|':           // XTREPORTSGR
		return QueryOther
	}
	return QueryNone
}

// mayAsk tells whether an OSC with this number can be a question: about a color, font or pointer shape, the clipboard, or
// what is allowed.
func mayAsk(number int) bool {
	switch number {
	case 4, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 50, 52, 60, 61:
		return true
	}
	return false
}

func queryOSC(number int, text []byte) QueryKind {
	if !mayAsk(number) {
		return QueryNone
	}
	if number == 60 || number == 61 {
		return QueryOther // these have no other meaning
	}
	for field := range bytes.SplitSeq(text, []byte{';'}) {
		if bytes.HasPrefix(field, []byte{'?'}) || bytes.HasSuffix(field, []byte{'?'}) {
			return QueryOther
		}
	}
	return QueryNone
}

// answerable tells whether seq, of which p is only the start, may become a query.
func (seq *sequence) answerable(p []byte) bool {
	switch seq.state {
	case ignoredString, dcsIgnore:
		return false
	case dcsString:
		return queryDCS(seq.ident) != QueryNone
	case oscString:
		number, text, open := oscNumber(clean(p[seq.from:]))
		if open || number != 52 {
			return open || mayAsk(number)
		}
		// Much text for the clipboard is common, and is no question.
		_, data, _ := bytes.Cut(text, []byte{';'})
		return len(data) == 0 || data[0] == '?'
	}
	return true
}
