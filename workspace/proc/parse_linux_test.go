package proc

import (
	"os"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	tail := " 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 9"
	for _, c := range []struct {
		line string
		want process
		ok   bool
	}{
		{"42 (sh) S 7 42 41" + tail, process{42, 7, 42, 41, 123456}, true},
		{"42 (a) b) (c\nd) R 7 42 41" + tail, process{42, 7, 42, 41, 123456}, true},
		{"42 (sh) Z 7 42 41" + tail, process{}, false},
		{"42 (sh) S 7", process{}, false},
		{"", process{}, false},
		{")(", process{}, false},
	} {
		if got, ok := parseStat(c.line); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v, %v", c.line, got, ok)
		}
	}
	if p, ok := look(os.Getpid()); !ok || p.parent != os.Getppid() {
		t.Errorf("ourselves: %+v, %v", p, ok)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("42 (sh) S 7 42 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 9")
	f.Add("1 (a) (b) S")
	f.Fuzz(func(t *testing.T, line string) {
		if p, ok := parseStat(line); ok && p.pid <= 0 {
			t.Errorf("%q gives %+v", line, p)
		}
	})
}

func FuzzParseDir(f *testing.F) {
	f.Add("/\n\x00")
	f.Add("/tmp\n\x00/\n\x00")
	f.Add("\x00")
	f.Add("relative\n\x00/cut")
	f.Fuzz(func(t *testing.T, told string) {
		dir, gone := parseDir(told)
		if dir != "" && dir[0] != '/' || strings.Contains(dir, "\x00") {
			t.Errorf("%q gives %q, %v", told, dir, gone)
		}
		if dir != "" && !gone {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				t.Errorf("%q gives %q, which is no directory", told, dir)
			}
		}
	})
}

func TestParseDir(t *testing.T) {
	for _, c := range []struct {
		told, dir string
		gone      bool
	}{
		{"", "", false},
		{"/\n", "", false}, // cut
		{"/\n\x00", "/", false},
		{"/\n\x00/no/such\n\x00", "/no/such", true},
		{"/no/such\n\x00/\n\x00", "/", false},
		{"/\n\x00/cut", "/", false},
		{"\x00", "", true},
		{"x\n\x00", "", false},
	} {
		if dir, gone := parseDir(c.told); dir != c.dir || gone != c.gone {
			t.Errorf("%q: %q, %v", c.told, dir, gone)
		}
	}
}

// A shell started by us under another of us belongs to both.
func TestMarkersNest(t *testing.T) {
	t.Setenv(Marker, "outer.3")
	r := newRunner(t, Config{Env: []string{Marker + "=forged"}})
	out, _ := sh(t, r, Job{Command: "echo $" + Marker + "; exec sleep 300 >/dev/null 2>&1 &"})
	value := strings.TrimSpace(out)
	if !strings.HasPrefix(value, "outer.3:") || !belongs(value, "outer") || !belongs(value, r.id) {
		t.Errorf("marker %q of %q", value, r.id)
	}
}

func TestApart(t *testing.T) {
	r := newRunner(t, Config{})
	out := newHeard()
	p, _ := begin(t, r, Job{Command: "echo ready; read x </dev/tty; sleep 300; :", Out: out})
	soon(t, out.any)
	child, ok := look(p.PID())
	if !ok || child.group != p.PID() || (child.session == p.PID()) != hasTerminal() {
		t.Errorf("%d is %+v, a terminal: %v", p.PID(), child, hasTerminal())
	}
}
