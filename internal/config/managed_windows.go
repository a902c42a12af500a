package config

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// managedFile asks the system and not the environment, which the user sets.
func managedFile() string {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	if err != nil {
		dir = `C:\ProgramData`
	}
	return filepath.Join(dir, "OpenHarness", "settings.json")
}
