//go:build unix && !darwin

package config

func managedFile() string { return "/etc/openharness/settings.json" }
