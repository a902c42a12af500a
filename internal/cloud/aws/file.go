package aws

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxFile is how long a shared file may be.
const maxFile = 4 << 20

// section holds the members of a section; names are in lower case.
type section map[string]string

// files are the shared files, read.
type files struct {
	config      map[string]section // by the whole name, such as "profile x"
	credentials map[string]section
}

// load reads the shared files. One that is missing counts as empty.
func (s *Signer) load() (files, error) {
	config, err := readFile(s.configFile())
	if err != nil {
		return files{}, err
	}
	credentials, err := readFile(s.credentialsFile())
	return files{config, credentials}, err
}

func readFile(path string) (map[string]section, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the AWS file: %w", err)
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the AWS file: %w", err)
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("the AWS file %s is longer than 4 MB", path)
	}
	return parse(string(raw)), nil
}

// parse reads sections of name = value. Indented lines belong to a nested member
// and are left out. What is neither is left out too: a file with one bad line
// is of use still.
func parse(text string) map[string]section {
	out := map[string]section{}
	var now section
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		bare := strings.TrimSpace(line)
		switch {
		case bare == "", bare[0] == '#', bare[0] == ';':
		case bare[0] == '[':
			name, _, ok := strings.Cut(bare[1:], "]")
			if now = nil; !ok {
				continue
			}
			name = strings.Join(strings.Fields(strings.NewReplacer(`"`, "", `'`, "").Replace(name)), " ")
			if out[name] == nil {
				out[name] = section{}
			}
			now = out[name]
		case line[0] == ' ', line[0] == '\t':
		default:
			name, value, ok := strings.Cut(bare, "=")
			if ok && now != nil {
				now[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(comment(value))
			}
		}
	}
	return out
}

// comment cuts a comment off a value.
func comment(value string) string {
	for i := 1; i < len(value); i++ {
		if (value[i] == '#' || value[i] == ';') && (value[i-1] == ' ' || value[i-1] == '\t') {
			return value[:i]
		}
	}
	return value
}

// has reports whether a profile is in one of the files.
func (f files) has(name string) bool {
	_, ok := f.credentials[name]
	return ok || f.config[configName(name)] != nil || f.config["profile "+name] != nil
}

func configName(profile string) string {
	if profile == "default" {
		return profile
	}
	return "profile " + profile
}

// profile returns the members of a profile, those of the credentials file over
// those of the other.
func (f files) profile(name string) section {
	out := section{}
	for _, s := range []section{f.config[configName(name)], f.config["profile "+name], f.credentials[name]} {
		for k, v := range s {
			out[k] = v
		}
	}
	return out
}
