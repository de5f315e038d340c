package cli

import (
	"os"
	"runtime/debug"
)

// collectorPercent is how much garbage, in percent of what is in use, may pile up before it is collected. Most of what
// is in use is terminals' logs, which hold no pointers and cost a collection next to nothing, so it may come often.
const collectorPercent = 25

// keepMemoryFlat lets little garbage pile up, unless the person has set GOGC.
func keepMemoryFlat() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectorPercent)
	}
}
