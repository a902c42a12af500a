package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/config/disk"
)

// Store is the credentials file: an object of providers, or of
// "profile:<slot>", each with an api_key. Other members are kept. The file has
// mode 0600; the keys in it are plain text.
type Store struct{ Path string }

// Open returns the store of these paths. Nothing is read or made yet.
func Open(p config.Paths) Store { return Store{filepath.Join(p.Config, "credentials.json")} }

type credentials map[string]map[string]json.RawMessage

func (s Store) decode(data []byte) (credentials, error) {
	c := credentials{}
	if len(bytes.TrimSpace(data)) == 0 {
		return c, nil
	}
	if err := json.Unmarshal(data, &c); err != nil || c == nil {
		return nil, fmt.Errorf("%s: %w: it is no JSON object of providers; correct it, or move it away and store the keys again", s.Path, ErrCorrupt)
	}
	return c, nil
}

func (s Store) load() (credentials, error) {
	data, err := disk.Read(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return credentials{}, nil
	}
	if err != nil {
		return nil, err
	}
	return s.decode(data)
}

// Get returns the key stored under a name.
func (s Store) Get(name string) (Secret, bool, error) {
	c, err := s.load()
	if err != nil {
		return Secret{}, false, err
	}
	raw, ok := c[name]["api_key"]
	if !ok {
		return Secret{}, false, nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return Secret{}, false, fmt.Errorf("%s: %w: the api_key of %s is no text", s.Path, ErrCorrupt, name)
	}
	if text == "" {
		return Secret{}, false, nil
	}
	key, err := clean(text, s.Path)
	return key, err == nil, err
}

// Names returns what has a key, sorted.
func (s Store) Names() ([]string, error) {
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if _, ok := c[name]["api_key"]; ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// Put stores a key under a name: a provider's, or "profile:" and a slot; see
// [Slot]. A damaged file is refused and left as it is.
func (s Store) Put(ctx context.Context, name string, key Secret) error {
	key, err := clean(key.Reveal(), "the key for "+name)
	if err != nil {
		return err
	}
	if name == "" {
		return errors.New("store a key: no name is given")
	}
	return s.change(ctx, func(c credentials) error {
		raw, err := oh.Marshal(key.Reveal())
		if err != nil {
			return fmt.Errorf("store a key: %w", err)
		}
		if c[name] == nil {
			c[name] = map[string]json.RawMessage{}
		}
		c[name]["api_key"] = raw
		return nil
	})
}

// Clear removes all that is stored under a name, and reports whether there was
// anything.
func (s Store) Clear(ctx context.Context, name string) (bool, error) {
	c, err := s.load()
	if err != nil || c[name] == nil {
		return false, err
	}
	return true, s.change(ctx, func(c credentials) error {
		delete(c, name)
		return nil
	})
}

func (s Store) change(ctx context.Context, edit func(credentials) error) error {
	return disk.File{Path: s.Path}.Update(ctx, func(old []byte) ([]byte, error) {
		c, err := s.decode(old)
		if err != nil {
			return nil, err
		}
		if err := edit(c); err != nil {
			return nil, err
		}
		flat, err := oh.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", s.Path, err)
		}
		var out bytes.Buffer
		if err := json.Indent(&out, flat, "", "  "); err != nil {
			return nil, fmt.Errorf("write %s: %w", s.Path, err)
		}
		out.WriteByte('\n')
		return out.Bytes(), nil
	})
}

// Slot returns the name under which the key of a profile is stored.
func Slot(l *config.Loaded, name string) (string, error) {
	p, user, ok := profile(l, name)
	if !ok {
		return "", fmt.Errorf("%q is no profile", name)
	}
	if p.Missing != "" {
		return "", fmt.Errorf("%s: %s", name, p.Missing)
	}
	return slot(p, user), nil
}
