package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilStopped returns a context that ends with the first signal to stop: Ctrl-C, SIGTERM, or the end of the terminal
// that the server runs in. A second signal ends the process at once. The caller calls stop.
func untilStopped() (ctx context.Context, stop context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop = signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// surviveBrokenPipes turns writes to a closed standard output or error into errors. By default they end the process,
// which would leave its terminals no time to end. Ignoring the signal would be inherited by every shell.
func surviveBrokenPipes() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
