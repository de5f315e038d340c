// Tandem serves terminals to browsers.
package main

import (
	"os"

	"tandem/cli"
)

func main() {
	os.Exit(cli.Run())
}
