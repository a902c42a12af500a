package auth

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// chainSource says where a cloud's credentials will be taken from, as far as
// that shows without asking anyone. It reads no file. found is false when only
// the machine itself is left to be asked.
func chainSource(l *config.Loaded, chain string) (source string, found bool) {
	name, at, hint := "AWS", awsSource(l), "none found; an instance's role is tried (aws configure stores some)"
	if chain == catalog.Google {
		name, at, hint = "Google", googleSource(l), "none found; an instance's account is tried (gcloud auth application-default login stores some)"
	}
	if found = at != ""; !found {
		at = hint
	}
	return name + " credentials: " + at, found
}

// awsSource names where AWS credentials are; "" when nothing shows.
func awsSource(l *config.Loaded) string {
	at := func(env, rest string) string { return pathOr(l, env, filepath.Join(".aws", rest)) }
	switch {
	case set(l, "AWS_ACCESS_KEY_ID"):
		return "AWS_ACCESS_KEY_ID"
	case set(l, "AWS_PROFILE"):
		name, _, _ := l.Env("AWS_PROFILE")
		return "the profile " + name + " (AWS_PROFILE)"
	case set(l, "AWS_WEB_IDENTITY_TOKEN_FILE"):
		return "AWS_WEB_IDENTITY_TOKEN_FILE"
	}
	for _, path := range []string{at("AWS_SHARED_CREDENTIALS_FILE", "credentials"), at("AWS_CONFIG_FILE", "config")} {
		if isFile(path) {
			return path
		}
	}
	for _, name := range []string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		if set(l, name) {
			return name
		}
	}
	return ""
}

// googleSource names where Google's credentials are; "" when nothing shows.
func googleSource(l *config.Loaded) string {
	if set(l, "GOOGLE_APPLICATION_CREDENTIALS") {
		return "GOOGLE_APPLICATION_CREDENTIALS"
	}
	path := filepath.Join(l.Paths.Home, ".config", "gcloud", "application_default_credentials.json")
	if dir, _, ok := l.Env("CLOUDSDK_CONFIG"); ok && dir != "" {
		path = filepath.Join(dir, "application_default_credentials.json")
	} else if data, _, ok := l.Env("APPDATA"); ok && data != "" && runtime.GOOS == "windows" {
		path = filepath.Join(data, "gcloud", "application_default_credentials.json")
	}
	if isFile(path) {
		return path
	}
	return ""
}

// pathOr is the path in a variable, else one in the home folder.
func pathOr(l *config.Loaded, env, rest string) string {
	if path, _, ok := l.Env(env); ok && path != "" {
		return path
	}
	return filepath.Join(l.Paths.Home, rest)
}

func set(l *config.Loaded, name string) bool {
	text, _, ok := l.Env(name)
	return ok && strings.TrimSpace(text) != ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
