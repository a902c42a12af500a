package config

func managedFile() string { return "/Library/Application Support/OpenHarness/settings.json" }
