package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/openharness/oh/bench/model"
)

// lab is where runs take place: the programs, the model service and folders
// that are thrown away.
type lab struct {
	ctx    context.Context
	effort float64
	temp   string
	work   string // the working directory of runs
	self   string
	oh     string
	floor  string
	empty  string
	model  *model.Server
	bodies map[string]string // file with oh's first request, by model
	load   string            // of the machine before the runs, "" when it does not tell
}

func newLab(ctx context.Context, oh string, effort float64) (_ *lab, err error) {
	l := &lab{ctx: ctx, effort: effort, bodies: map[string]string{}, load: load()}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if l.temp, err = os.MkdirTemp("", "oh-bench-"); err != nil {
		return nil, err
	}
	if err := l.fill(); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		to  *string
		pkg string
	}{{&l.floor, "bench/floor"}, {&l.empty, "bench/empty"}} {
		if *p.to, err = l.build(p.pkg); err != nil {
			return nil, err
		}
	}
	if oh == "" {
		l.oh, err = l.build("cmd/oh")
	} else if l.oh, err = filepath.Abs(oh); err == nil {
		_, err = os.Stat(l.oh)
	}
	if err != nil {
		return nil, fmt.Errorf("the binary to measure: %w", err)
	}
	l.model, err = model.Start()
	return l, err
}

// load is the average number of running processes of the last minute.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "" // only Linux has it
	}
	now, _, _ := strings.Cut(string(raw), " ")
	return now
}

// fill makes the folders, and files for the runs that read.
func (l *lab) fill() error {
	l.work = filepath.Join(l.temp, "work")
	for _, dir := range []string{l.work, filepath.Join(l.temp, "home"), filepath.Join(l.temp, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	text := strings.Repeat("a line of a file that is read by the model\n", 200)
	for i := range model.Files {
		if err := os.WriteFile(filepath.Join(l.work, fmt.Sprintf("f%d.txt", i)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// build compiles a package of this module as the Makefile does.
func (l *lab) build(pkg string) (string, error) {
	bin := filepath.Join(l.temp, filepath.Base(pkg))
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	cmd := exec.CommandContext(l.ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "github.com/openharness/oh/"+pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return bin, nil
}

func (l *lab) close() {
	if l.model != nil {
		if err := l.model.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "report: close the model service:", err)
		}
	}
	if l.temp != "" {
		if err := os.RemoveAll(l.temp); err != nil {
			fmt.Fprintln(os.Stderr, "report:", err)
		}
	}
}

// env is the environment of a run: nothing of the user's but where programs
// are.
func (l *lab) env() []string {
	home := filepath.Join(l.temp, "home")
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "TMPDIR=" + filepath.Join(l.temp, "tmp"),
		"LANG=C.UTF-8", "ANTHROPIC_BASE_URL=" + l.model.URL(), "ANTHROPIC_API_KEY=sk-ant-bench-0000000000",
		"OPENAI_API_KEY=sk-bench-0000000000", "GEMINI_API_KEY=bench-0000000000", "AWS_BEARER_TOKEN_BEDROCK=bench-0000000000", "AWS_REGION=us-east-1",
	}
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		env = append(env, "SYSTEMROOT="+root)
	}
	return env
}

// ohArgs is the command line of a run of oh.
func (l *lab) ohArgs(name string, more ...string) []string {
	return slices.Concat([]string{l.oh, "-p", "--model", name, "--permission-mode", "full_auto", "--max-turns", "2000"},
		more, []string{"do it"})
}

// voiceArgs is the command line of a run of oh on another wire.
func (l *lab) voiceArgs(v model.Voice, name string) []string {
	profile := map[string]string{"chat": "openai-compatible", "responses": "openai-responses"}[v.Name]
	if profile == "" {
		profile = v.Name
	}
	return l.ohArgs(name, "--profile", profile, "--base-url", l.model.URL()+v.Base)
}

// floorArgs is the command line of a run of the floor, which sends what oh
// sent first.
func (l *lab) floorArgs(name string) ([]string, error) {
	file, ok := l.bodies[name]
	if !ok {
		if _, err := l.session(name, l.ohArgs(name)); err != nil {
			return nil, err
		}
		file = filepath.Join(l.temp, name+".json")
		if err := os.WriteFile(file, l.model.First(), 0o600); err != nil {
			return nil, err
		}
		l.bodies[name] = file
	}
	return []string{l.floor, l.model.URL(), file}, nil
}

// session runs a program against a scenario and checks that it came to its end.
func (l *lab) session(name string, args []string) (sample, error) {
	sc, err := model.Find(name)
	if err != nil {
		return sample{}, err
	}
	l.model.Begin()
	s, err := l.run(args)
	if err != nil {
		return s, err
	}
	turns, err := l.model.Turns()
	switch {
	case err != nil:
		return s, fmt.Errorf("the model service: %w", err)
	case len(turns) != sc.Turns+1:
		return s, fmt.Errorf("%s made %d requests, want %d", filepath.Base(args[0]), len(turns), sc.Turns+1)
	case s.Out == 0:
		return s, errors.New(filepath.Base(args[0]) + " printed nothing")
	}
	s.gaps = model.Gaps(turns)
	s.first = turns[0].Size
	return s, nil
}

// runs is how often something is done that is usually done n times.
func (l *lab) runs(n int) int { return max(1, int(math.Round(float64(n)*l.effort))) }

// pairs runs programs against a scenario in turns: A B A B. The result has one
// list of samples for each program.
func (l *lab) pairs(name string, n int, programs ...[]string) ([][]sample, error) {
	out := make([][]sample, len(programs))
	for range l.runs(n) {
		for i, args := range programs {
			s, err := l.session(name, args)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], s)
		}
	}
	return out, nil
}

// beside runs oh and the floor in turns.
func (l *lab) beside(name string, n int) (oh, floor []sample, err error) {
	args, err := l.floorArgs(name)
	if err != nil {
		return nil, nil, err
	}
	all, err := l.pairs(name, n, l.ohArgs(name), args)
	if err != nil {
		return nil, nil, err
	}
	return all[0], all[1], nil
}
