package sandbox

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed image.dockerfile
var imageFile string

// Docker configures the backend Container.
type Docker struct {
	Image  string // openharness-sandbox:latest
	Build  bool   // build the image when it is missing
	CPUs   float64
	Memory string            // as docker takes it, such as 2g
	Mounts []string          // as docker's -v takes them
	Env    map[string]string // variables of the container
}

const (
	defaultImage = "openharness-sandbox:latest"
	infoTime     = 5 * time.Second
	runTime      = time.Minute
	buildTime    = 10 * time.Minute
	stopTime     = 15 * time.Second
)

// watch runs a command in the container and ends it, with what it started,
// when its standard input ends: so a client that is killed takes it along. Its
// own input is empty.
const watchScript = `exec 3<&0; setsid "$@" </dev/null 3<&- & p=$!; ` +
	`(cat <&3 & k=$!; trap 'kill $k; exit' TERM; wait $k; kill -s TERM -- -$p; sleep 0.5; kill -s KILL -- -$p) >/dev/null 2>&1 & w=$!; ` +
	`exec 3<&-; wait $p; c=$?; kill $w 2>/dev/null; exit $c`

// container runs commands in one container, made for the policy. It never has a
// network.
type container struct {
	docker, name string
	env          []string
	inputs       []*os.File // of clients that may still run
}

func newContainer(c Config, x *plan) (holder, error) {
	path, err := exec.LookPath("docker")
	if err != nil {
		return nil, errors.New("docker is not in PATH: install it, or use another backend")
	}
	k := &container{docker: path, name: containerName(c.Session)}
	for _, name := range slices.Sorted(maps.Keys(c.Docker.Env)) {
		k.env = append(k.env, name+"="+c.Docker.Env[name])
	}
	if err := k.run(infoTime, nil, "info", "--format", "{{.ServerVersion}}"); err != nil {
		return nil, fmt.Errorf("docker does not answer: %w", err)
	}
	image := cmp.Or(c.Docker.Image, defaultImage)
	if err := k.run(infoTime, nil, "image", "inspect", "--format", "{{.Id}}", image); err != nil {
		if !c.Docker.Build {
			return nil, fmt.Errorf("the image %s is missing: build it, or set sandbox.docker.auto_build_image", image)
		}
		if err := k.run(buildTime, strings.NewReader(imageFile), "build", "-t", image, "-"); err != nil {
			return nil, fmt.Errorf("build the image %s: %w", image, err)
		}
	}
	if err := k.run(runTime, nil, runArgs(c, x, k.name, image)...); err != nil {
		return nil, fmt.Errorf("start the container: %w", err)
	}
	return k, nil
}

// containerName keeps what a name may hold.
func containerName(session string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return -1
	}, session)
	return "openharness-sandbox-" + cmp.Or(clean, strconv.FormatUint(rand.Uint64(), 36))
}

// runArgs are the arguments that start the container. The folders lie where
// they lie outside.
func runArgs(c Config, x *plan, name, image string) []string {
	args := []string{"run", "-d", "--rm", "--init", "--name", name, "--network", "none",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", "1024"}
	if runtime.GOOS != "windows" {
		args = append(args, "--user", strconv.Itoa(os.Getuid())+":"+strconv.Itoa(os.Getgid()))
	}
	if c.Docker.CPUs > 0 {
		args = append(args, "--cpus", strconv.FormatFloat(c.Docker.CPUs, 'f', -1, 64))
	}
	if c.Docker.Memory != "" {
		args = append(args, "--memory", c.Docker.Memory)
	}
	for _, w := range slices.Concat(x.write, x.carve) {
		args = append(args, "--mount", bind(w, false))
	}
	for _, root := range c.existing(c.Write) {
		if !x.writable(root) && !slices.Contains(x.carve, root) {
			args = append(args, "--mount", bind(root, true))
		}
	}
	for _, f := range x.fixed {
		args = append(args, "--mount", bind(f, true))
	}
	for _, d := range slices.Concat(x.exposed(), x.carved()) {
		if info, err := os.Stat(d); err == nil && info.IsDir() {
			args = append(args, "--tmpfs", d)
		} else {
			args = append(args, "--mount", "type=bind,src=/dev/null,"+field("dst="+d)+",readonly")
		}
	}
	for _, m := range c.Docker.Mounts {
		args = append(args, "-v", m)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Docker.Env)) {
		args = append(args, "-e", name)
	}
	return append(args, "-e", "HOME="+x.temp, "-w", cmp.Or(resolve(c.Dir), "/"), image, "sleep", "infinity")
}

// carved lists the denied places that lie in carved roots.
func (x *plan) carved() []string {
	return slices.DeleteFunc(slices.Clone(x.deny), func(d string) bool {
		return !slices.ContainsFunc(x.carve, func(c string) bool { return within(c, d) })
	})
}

func bind(path string, readOnly bool) string {
	m := "type=bind," + field("src="+path) + "," + field("dst="+path)
	if readOnly {
		m += ",readonly"
	}
	return m
}

// field quotes a field of docker's comma-separated lists.
func field(s string) string {
	if strings.ContainsAny(s, ",\"\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// run runs the client for the policy itself.
func (k *container) run(most time.Duration, in io.Reader, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.docker, args...)
	cmd.Env = append(os.Environ(), k.env...)
	cmd.Stdin = in
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %v", most)
		}
		return errors.New(firstLine(out.String(), err))
	}
	return nil
}

// firstLine is what a program said, or how it ended.
func firstLine(out string, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if line == "" {
		return err.Error()
	}
	return line
}

// start runs a command in the container, by the name of its program there. It
// gets the variables that this program does not have itself: those of the host
// mean nothing inside, and its keys are nobody's business.
func (k *container) start(cmd *exec.Cmd) error {
	k.sweep()
	args := []string{"exec", "-i"}
	if cmd.Dir != "" {
		args = append(args, "-w", cmd.Dir)
	}
	for _, name := range added(cmd.Env) {
		args = append(args, "-e", name)
	}
	args = append(args, k.name, "sh", "-c", watchScript, "sh", filepath.Base(cmd.Path))
	if len(cmd.Args) > 0 {
		args = append(args, cmd.Args[1:]...)
	}
	cmd.Args, cmd.Path = append([]string{"docker"}, args...), k.docker
	if cmd.Stdin != nil {
		return errors.New("the docker backend gives commands no input")
	}
	theirs, mine, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start a command in the container: %w", err)
	}
	defer func() { _ = theirs.Close() }()
	cmd.Stdin = theirs
	if err := cmd.Start(); err != nil {
		_ = mine.Close()
		return err
	}
	k.inputs = append(k.inputs, mine)
	return nil
}

// added names the variables of env that are not this program's own.
func added(env []string) []string {
	outer := os.Environ()
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if name != "" && !slices.Contains(outer, kv) && !slices.Contains(out, name) && !slices.Contains([]string{"PATH", "HOME", "PWD"}, name) {
			out = append(out, name)
		}
	}
	return out
}

// sweep closes the inputs of clients that have ended: a byte, which those that
// run throw away, cannot be written to them.
func (k *container) sweep() {
	k.inputs = slices.DeleteFunc(k.inputs, func(f *os.File) bool {
		_, err := f.Write([]byte{'\n'})
		if err != nil {
			_ = f.Close()
		}
		return err != nil
	})
}

func (k *container) status() Status {
	return Status{Active: true, Backend: Container, Files: true, Network: true, Signals: true, Sockets: true,
		Why: "commands never have a network in the container"}
}

func (k *container) close() error {
	for _, f := range k.inputs {
		_ = f.Close()
	}
	if err := k.run(stopTime, nil, "stop", "-t", "5", k.name); err != nil {
		return fmt.Errorf("stop the container %s: %w", k.name, err)
	}
	return nil
}
