package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"tandem/server/login"
)

const (
	passwordEnv = "TANDEM_PASSWORD"

	// passwordFDEnv names the descriptor that a restarted process reads the password from.
	passwordFDEnv = "TANDEM_PASSWORD_FD"
)

// givenPassword returns the password for this run, from a file or the environment, or "" if none was given.
func givenPassword(file string) (string, error) {
	password, err := takePasswordEnv()
	if err != nil {
		return "", err
	}
	if file == "" {
		if password == "" {
			return "", nil
		}
		return password, checkPassword(password, passwordEnv)
	}
	if password != "" {
		return "", errors.New("--password-file and " + passwordEnv + " exclude each other: give one")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	password = firstLine(content)
	if password == "" {
		return "", fmt.Errorf("the first line of %s is empty: it should be the password", file)
	}
	return password, checkPassword(password, file)
}

// checkPassword holds a password given at the start to what a stored one is held to. source says where it came from.
func checkPassword(password, source string) error {
	if err := login.CheckNew(password); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	return nil
}

// takePasswordEnv returns the password in the environment and removes it from there. Unsetting the variable is not
// enough: ps and /proc show the environment that a process was started with, to every shell of this user. So the process
// starts itself again without it, under the same process id, and hands the password on through a pipe.
func takePasswordEnv() (string, error) {
	if fd := os.Getenv(passwordFDEnv); fd != "" {
		_ = os.Unsetenv(passwordFDEnv)
		return readPasswordFD(fd)
	}
	password := os.Getenv(passwordEnv)
	_ = os.Unsetenv(passwordEnv)
	if password == "" {
		return "", nil
	}
	if len(password) > login.MaxPassword {
		return "", checkPassword(password, passwordEnv) // a pipe may not hold it without a reader
	}
	return "", restartWithPassword(password)
}

func readPasswordFD(fd string) (string, error) {
	number, err := strconv.Atoi(fd)
	if err != nil {
		return "", fmt.Errorf("%s is %q: want the number of a file descriptor", passwordFDEnv, fd)
	}
	pipe := os.NewFile(uintptr(number), "password")
	if pipe == nil {
		return "", fmt.Errorf("%s is %q, which is no open file descriptor", passwordFDEnv, fd)
	}
	defer pipe.Close()
	password, err := io.ReadAll(io.LimitReader(pipe, login.MaxPassword))
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return string(password), nil
}

// restartWithPassword returns only if it fails.
func restartWithPassword(password string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("take the password out of the environment: %w", err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("take the password out of the environment: %w", err)
	}
	defer reader.Close()
	_, err = writer.WriteString(password)
	if err := errors.Join(err, writer.Close()); err != nil {
		return fmt.Errorf("take the password out of the environment: %w", err)
	}
	kept, err := unix.Dup(int(reader.Fd())) // a duplicate stays open in the new program
	if err != nil {
		return fmt.Errorf("take the password out of the environment: %w", err)
	}
	environ := append(os.Environ(), passwordFDEnv+"="+strconv.Itoa(kept))
	err = syscall.Exec(program, os.Args, environ)
	_ = unix.Close(kept)
	return fmt.Errorf("start again without the password in the environment: %w (--password-file needs no new start)", err)
}

// firstLine is without its end. Editors and echo end a file with a newline that is no part of a password.
func firstLine(content []byte) string {
	line, _, _ := bytes.Cut(content, []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r")))
}
