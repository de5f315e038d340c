package vt

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkScan reads 64 KiB in pieces of the size that a pty gives.
func BenchmarkScan(b *testing.B) {
	for _, bench := range []struct {
		name string
		unit func(i int) string
	}{
		{"ascii", func(i int) string { return "The quick brown fox jumps over the lazy dog, again and again.\r\n" }},
		{"utf8", func(i int) string { return "いろはにほへとちりぬるを 散りぬるを\r\n" }},
		{"latin1", func(i int) string { return "«Ça déjà vu»\u00a0: 20\u00a0°C à l’été\r\n" }},
		{"sgr", func(i int) string { return fmt.Sprintf("\x1b[%dmfifteen letters", 31+i%7) }},
		{"sgr256", func(i int) string { return fmt.Sprintf("\x1b[1;38;5;%dmword\x1b[0m text\r\n", i%256) }},
		{"rgb", func(i int) string { return fmt.Sprintf("\x1b[38;2;%d;100;200mX", i%256) }},
		{"cursor", func(i int) string { return fmt.Sprintf("\x1b[%d;%dHcell", 1+i%24, 1+i%80) }},
		{"private", func(i int) string { return "\x1b[?25lcell\x1b[?25h" }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var text bytes.Buffer
			for i := 0; text.Len() < 64<<10; i++ {
				text.WriteString(bench.unit(i))
			}
			output := text.Bytes()
			var s Scanner
			var found Findings
			b.SetBytes(int64(len(output)))
			b.ReportAllocs()
			for b.Loop() {
				for from := 0; from < len(output); {
					from += s.Scan(output[from:min(from+4095, len(output))], int64(from), &found)
				}
			}
		})
	}
}
