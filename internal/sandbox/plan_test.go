package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/internal/config"
)

func TestTables(t *testing.T) {
	for line := range strings.SplitSeq(cacheTable, "\n") {
		if line != "" && line[0] != '#' && len(strings.Fields(line)) != 3 {
			t.Errorf("cache.txt: %q has not three fields", line)
		}
	}
	c := Config{Home: "/home/u", LookupEnv: func(string) (string, bool) { return "", false }}
	seen := map[string]bool{}
	for _, row := range cacheRows(cacheTable) {
		at := row.at(c)
		if !within("/home/u", at) || at == "/home/u" || strings.Contains(at, "~") {
			t.Errorf("%s lies at %q", row.program, at)
		}
		if strings.Contains(row.env, "=") || strings.Contains(row.place, "=") {
			t.Errorf("%+v holds an =", row)
		}
		seen[row.program] = true
	}
	for _, want := range []string{"go", "npm", "cargo", "pip", "uv", "gradle", "ccache", "pnpm", "yarn"} {
		if !seen[want] {
			t.Errorf("no cache of %s", want)
		}
	}
	secrets := c.secrets()
	for _, want := range []string{"/home/u/.ssh", "/home/u/.aws", "/home/u/.gnupg", "/home/u/.kube", "/home/u/.config/gcloud"} {
		if !slices.Contains(secrets, want) {
			t.Errorf("%s may be read", want)
		}
	}
	for _, s := range secrets {
		if !filepath.IsAbs(s) || strings.ContainsAny(s, "~*") {
			t.Errorf("secret.txt: %q", s)
		}
		for _, row := range cacheRows(cacheTable) {
			if at := row.at(c); within(s, at) {
				t.Errorf("the cache %s lies in the secret %s", at, s)
			}
		}
	}
	if got := (Config{}).secrets(); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, ".ssh") }) {
		t.Errorf("without a home folder: %v", got)
	}
}

func TestCachePlaces(t *testing.T) {
	env := map[string]string{"GOCACHE": "off", "GOPATH": "/go:/other", "CARGO_HOME": "/c", "XDG_CACHE_HOME": "/x", "XDG_DATA_HOME": "relative"}
	c := Config{Home: "/home/u", LookupEnv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }}
	var got []string
	for _, row := range []cache{
		{"go", "GOCACHE", "CACHE/go-build", false}, {"go", "GOPATH/pkg", "~/go/pkg", false}, {"cargo", "CARGO_HOME/git", "~/.cargo/git", false},
		{"pip", "PIP_CACHE_DIR", "CACHE/pip", false}, {"pnpm", "-", "DATA/pnpm", false}, {"npm", "npm_config_cache", "~/.npm", false},
	} {
		got = append(got, row.at(c))
	}
	want := []string{"", "/go/pkg", "/c/git", "/x/pip", "/home/u/.local/share/pnpm", "/home/u/.npm"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	x := &plan{home: "/home/u", deny: []string{"/home/u/.ssh"}, absent: []string{"/home/u/.config/gcloud"}}
	for path, sane := range map[string]bool{
		"/home/u/.cache/pip": true, "/cache/go": true, "/": false, "/home": false, "/home/u": false, "/srv": false, "/usr/share/x": false,
		"/home/u/.ssh": false, "/home/u/.ssh/c": false, "/home/u/.config": false, "/home/user": true,
	} {
		if x.sane(path) != sane {
			t.Errorf("sane(%s) is %v", path, !sane)
		}
	}
}

// TestCachesAreMadeForInstalledPrograms uses go, which runs this test.
func TestCachesAreMadeForInstalledPrograms(t *testing.T) {
	home := resolve(t.TempDir())
	c := Config{Home: home, LookupEnv: func(n string) (string, bool) { return "", false }}
	t.Setenv("PATH", home+"/bin")
	x := &plan{home: home}
	if got := x.caches(c); got != nil {
		t.Errorf("nothing is installed, and there are %v", got)
	}
	name := "cargo"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if err := os.MkdirAll(home+"/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "bin", name), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := x.caches(c)
	want := []string{"registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache"}
	for i, w := range want {
		want[i] = filepath.Join(home, ".cargo", w)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(want[2]); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the lock file: %v", err)
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		want      bool
	}{{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a", "/ab", false}, {"/", "/a", true}, {"/a/b", "/a", false}} {
		if got := within(filepath.FromSlash(c.dir), filepath.FromSlash(c.path)); got != c.want {
			t.Errorf("within(%s, %s) = %v", c.dir, c.path, got)
		}
	}
	if got := outermost([]string{"/a/b", "/a", "/a", "/c", "/ab"}); !slices.Equal(got, []string{"/a", "/c", "/ab"}) {
		t.Errorf("outermost: %v", got)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Mode: "chroot"}, `sandbox mode "chroot" is none of workspace-write, read-only, off`},
		{Config{Network: "some"}, `sandbox network "some" is none of open, proxy, none`},
		{Config{Backend: "srt"}, `sandbox backend "srt" is none of landlock, bwrap, seatbelt, docker, none`},
		{Config{Allowed: []string{"https://x.example/"}}, `sandbox.network.allowed_domains: "https://x.example/" is no host: write a name, *.name, an address or a prefix such as 10.0.0.0/8, without scheme, port and path`},
	} {
		if _, err := New(c.cfg); err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

func TestConfigure(t *testing.T) {
	on := config.Sandbox{Enabled: true, Backend: "srt", Filesystem: config.SandboxFilesystem{AllowWrite: []string{"."}, DenyRead: []string{"~/x"}}}
	with := func(change func(*config.Sandbox)) config.Sandbox {
		s := on
		change(&s)
		return s
	}
	for _, c := range []struct {
		name string
		s    config.Sandbox
		want Config
	}{
		{"on", on, Config{AllowWrite: []string{"/data", "."}, DenyRead: []string{"~/x"}}},
		{"off", with(func(s *config.Sandbox) { s.Enabled = false }), Config{Mode: Off, AllowWrite: []string{"/data", "."}, DenyRead: []string{"~/x"}}},
		{"elsewhere", with(func(s *config.Sandbox) { s.Platforms = []string{"plan9"} }), Config{Mode: Off, AllowWrite: []string{"/data", "."}, DenyRead: []string{"~/x"}}},
		{"docker", with(func(s *config.Sandbox) { s.Backend, s.Docker.AutoBuild = "docker", true }), Config{Backend: Container, Docker: Docker{Build: true}, AllowWrite: []string{"/data", "."}, DenyRead: []string{"~/x"}}},
		{"hosts", with(func(s *config.Sandbox) { s.Network.Denied = []string{"x.example"} }), Config{Network: Proxied, Denied: []string{"x.example"}, AllowWrite: []string{"/data", "."}, DenyRead: []string{"~/x"}}},
		{"none", with(func(s *config.Sandbox) { s.Network.Denied = []string{"*"} }), Config{Network: Closed, Denied: []string{"*"}, AllowWrite: []string{"/data", "."}, DenyRead: []string{"~/x"}}},
	} {
		got := Configure(Config{AllowWrite: []string{"/data"}}, c.s)
		got.LookupEnv = nil
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestOffStartsAsItIs(t *testing.T) {
	p, err := New(Config{Mode: Off})
	if err != nil {
		t.Fatal(err)
	}
	if st := p.Status(); st.Active || st.String() != "commands are not confined: it is turned off" {
		t.Errorf("%+v", st)
	}
	if p.Blocked("x: Permission denied", 1) != "" || p.Refused() != nil {
		t.Error("something is said of a sandbox that is off")
	}
	if p.temp != "" {
		t.Error("a temporary folder was made")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestEnviron(t *testing.T) {
	p := &Policy{temp: "/tmp/oh-1"}
	want := []string{"TMPDIR=/tmp/oh-1", "TMP=/tmp/oh-1", "TEMP=/tmp/oh-1", "TMPPREFIX=" + filepath.Join("/tmp/oh-1", "zsh")}
	if diff := cmp.Diff(want, p.environ()); diff != "" {
		t.Error(diff)
	}
}

func TestStatusIsOneLine(t *testing.T) {
	for _, c := range []struct {
		st   Status
		want string
	}{
		{Status{Active: true, Backend: Landlock}, "commands are confined by landlock"},
		{Status{Active: true, Backend: Bubblewrap, Why: "no Landlock", NotHeld: []string{"a", "b"}}, "commands are confined by bwrap; no Landlock; not held: a; b"},
		{Status{Why: "no"}, "commands are not confined: no"},
		{Status{}, "commands are not confined"},
	} {
		if got := c.st.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if st := Probe(); !st.Active && st.Why == "" {
		t.Errorf("no reason: %+v", st)
	}
}
