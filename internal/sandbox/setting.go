package sandbox

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/config"
)

// Configure puts what the settings say into a configuration that has the
// folders. Modes that are set already stay. With rules for hosts the network is
// reached through the proxy alone; with "*" denied, and nothing allowed, not at
// all.
func Configure(c Config, s config.Sandbox) Config {
	if !s.Enabled || !onPlatform(s.Platforms) {
		c.Mode = Off
	}
	switch s.Backend {
	case "", "srt", "auto":
	default:
		c.Backend = Backend(s.Backend)
	}
	c.AllowWrite = append(slices.Clone(c.AllowWrite), s.Filesystem.AllowWrite...)
	c.DenyWrite = append(slices.Clone(c.DenyWrite), s.Filesystem.DenyWrite...)
	c.AllowRead = append(slices.Clone(c.AllowRead), s.Filesystem.AllowRead...)
	c.DenyRead = append(slices.Clone(c.DenyRead), s.Filesystem.DenyRead...)
	c.Allowed, c.Denied = s.Network.Allowed, s.Network.Denied
	if c.Network == "" {
		switch {
		case len(c.Allowed) == 0 && slices.Contains(c.Denied, "*"):
			c.Network = Closed
		case len(c.Allowed)+len(c.Denied) > 0:
			c.Network = Proxied
		}
	}
	d := s.Docker
	c.Docker = Docker{Image: d.Image, Build: d.AutoBuild, CPUs: d.CPUs, Memory: d.Memory, Mounts: d.Mounts, Env: d.Env}
	return c
}

// onPlatform reports whether the sandbox is wanted on this system; an empty
// list wants it everywhere.
func onPlatform(list []string) bool {
	if len(list) == 0 {
		return true
	}
	names := []string{runtime.GOOS}
	switch runtime.GOOS {
	case "darwin":
		names = []string{"macos", "darwin"}
	case "linux":
		if kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease"); strings.Contains(strings.ToLower(string(kernel)), "microsoft") {
			names = []string{"wsl"}
		}
	}
	return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(names, s) })
}
