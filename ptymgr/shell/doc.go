// Package shell makes shells tell what they do: where a prompt starts, which command was typed, when it starts and how
// it ends.
package shell
