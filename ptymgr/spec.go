package ptymgr

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxName bounds a title given by the person, in bytes.
const maxName = 256

// Spec says what to run in a new terminal. The zero value is the login shell at 80×24 in the Manager's directory.
type Spec struct {
	Shell   string            // path of a shell to run as a login shell; "" means the Manager's
	Command string            // program to run in place of a shell, looked up in PATH
	Args    []string          // arguments of Command
	Env     map[string]string // added to the environment; TANDEM_* names are refused
	Dir     string            // absolute path; "" means the Manager's directory
	Size    Size              // zero means 80×24
	Name    string            // title given by the person; sticks; at most 256 bytes

	// KeepFree is how many live terminals must still be possible after this one, else it is refused. Negative is zero.
	KeepFree int
}

// SpecError says which field of a Spec cannot be used, and why.
type SpecError struct {
	Field string // "shell", "command", "args", "env", "cwd", "size" or "name"
	Err   error
}

func (e *SpecError) Error() string { return fmt.Sprintf("%s: %v", e.Field, e.Err) }
func (e *SpecError) Unwrap() error { return e.Err }

// CheckName reports why name cannot be a title: it is too long, or not printable text.
func CheckName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("longer than %d bytes", maxName)
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, isControl) {
		return fmt.Errorf("contains control characters or invalid UTF-8")
	}
	return nil
}

// isControl reports whether r is a control character, of C0, C1 or DEL.
func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

// command checks the spec and makes the command that runs it in the terminal with this id.
func (spec *Spec) command(id string) (*exec.Cmd, error) {
	if err := spec.Size.check(); err != nil {
		return nil, &SpecError{"size", err}
	}
	if err := CheckName(spec.Name); err != nil {
		return nil, &SpecError{"name", err}
	}
	if spec.Command == "" && len(spec.Args) > 0 {
		return nil, &SpecError{"args", fmt.Errorf("need a command")}
	}
	if err := checkDir(spec.Dir); err != nil {
		return nil, &SpecError{"cwd", err}
	}
	env, err := environ(id, *spec, spec.Shell)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Dir: spec.Dir, Env: env}
	if spec.Command == "" {
		if cmd.Path, err = exec.LookPath(spec.Shell); err != nil {
			return nil, &SpecError{"shell", err}
		}
		cmd.Args = []string{"-" + filepath.Base(cmd.Path)} // the dash makes it a login shell
		return cmd, nil
	}
	if cmd.Path, err = lookPath(spec.Command, spec.Dir); err != nil {
		return nil, &SpecError{"command", err}
	}
	cmd.Args = append([]string{spec.Command}, spec.Args...)
	return cmd, nil
}

// lookPath finds a program in PATH, or, if its name has a slash, from dir.
func lookPath(command, dir string) (string, error) {
	if strings.ContainsRune(command, '/') && !filepath.IsAbs(command) {
		return exec.LookPath(filepath.Join(dir, command))
	}
	return exec.LookPath(command)
}

func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%q is not an absolute path", dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return nil
}
