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
	"github.com/openharness/oh/internal/auth/ring"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/config/disk"
)

// ErrCorrupt says that the credentials file cannot be understood. It is then
// never written to.
var ErrCorrupt = errors.New("the credentials file is damaged")

// Keyring is where an operating system keeps secrets. Get and Delete return
// [ring.ErrNoEntry] for what is not there, all of them [ring.ErrNone] where
// there is no keyring.
type Keyring interface {
	Get(ctx context.Context, entry string) (string, error)
	Set(ctx context.Context, entry, secret string) error
	Delete(ctx context.Context, entry string) error
}

// Store keeps keys under names: a vendor's, or "profile:" and a slot; see
// [Slot]. A key is in the keyring, under "<name>:api_key", or in the file, never
// in both.
//
// The file is an object of names, each with an api_key, or with "keyring": true
// for a key that the keyring holds. Other members are kept. It has mode 0600;
// the keys in it are plain text.
type Store struct {
	Path string
	Ring Keyring // nil: the file alone
}

// Open returns the store of these settings. Nothing is read or made yet.
func Open(l *config.Loaded) Store {
	s := Store{Path: filepath.Join(l.Paths.Config, "credentials.json")}
	if l.Settings.Keyring {
		s.Ring = ring.System{}
	}
	return s
}

// inRing is where a key is, for people.
const inRing = "the system's keyring"

func entryOf(name string) string { return name + ":api_key" }

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

// marked reports whether the file says that the keyring holds the key.
func (c credentials) marked(name string) bool { return string(c[name]["keyring"]) == "true" }

// text returns a member that is text; an error when it is something else.
func (s Store) text(c credentials, name, member string) (string, error) {
	raw, ok := c[name][member]
	if !ok {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", fmt.Errorf("%s: %w: the %s of %s is no text", s.Path, ErrCorrupt, member, name)
	}
	return text, nil
}

// Get returns the key stored under a name, and where it is. The key is zero
// when there is none. A keyring is asked only about what the file does not hold.
func (s Store) Get(ctx context.Context, name string) (key Secret, where string, err error) {
	return s.get(ctx, name, false)
}

// GetKnown is Get for a key that is rarely there: the keyring is asked only
// when the file says that it holds the key.
func (s Store) GetKnown(ctx context.Context, name string) (key Secret, where string, err error) {
	return s.get(ctx, name, true)
}

func (s Store) get(ctx context.Context, name string, onlyMarked bool) (Secret, string, error) {
	c, err := s.load()
	if err != nil {
		return Secret{}, "", err
	}
	text, err := s.text(c, name, "api_key")
	if err != nil {
		return Secret{}, "", err
	}
	if text != "" {
		key, err := clean(text, s.Path)
		return key, s.Path, err
	}
	switch {
	case s.Ring == nil && c.marked(name):
		return Secret{}, "", &Locked{name, errors.New("it is switched off (setting keyring, OPENHARNESS_KEYRING)")}
	case s.Ring == nil || onlyMarked && !c.marked(name):
		return Secret{}, "", nil
	}
	text, err = s.Ring.Get(ctx, entryOf(name))
	switch {
	case err == nil && text == "":
		return Secret{}, "", nil
	case err == nil:
		key, err := clean(text, inRing)
		return key, inRing, err
	case ctx.Err() != nil:
		return Secret{}, "", context.Cause(ctx)
	case errors.Is(err, ring.ErrNoEntry), !c.marked(name):
		return Secret{}, "", nil
	}
	return Secret{}, "", &Locked{name, err}
}

// Locked says that a key is in the keyring and cannot be had.
type Locked struct {
	Name string // under which it is stored
	Err  error
}

// Error implements error.
func (e *Locked) Error() string {
	return fmt.Sprintf("the key of %s is in %s and cannot be read: %v; unlock it or switch it on, set the key in the environment, or keep it in a file with: OPENHARNESS_KEYRING=off oh auth login", e.Name, inRing, e.Err)
}

// Unwrap returns the cause.
func (e *Locked) Unwrap() error { return e.Err }

// Detail returns what was stored beside a key; see [Store.Put].
func (s Store) Detail(name, member string) (string, error) {
	c, err := s.load()
	if err != nil {
		return "", err
	}
	return s.text(c, name, member)
}

// Names returns what has a key, sorted. A key that another program put into
// the keyring is not among them.
func (s Store) Names() ([]string, error) {
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if _, ok := c[name]["api_key"]; ok || c.marked(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Put stores a key under a name, in the keyring if there is one, and returns
// where it is. A keyring that refuses is passed over; why says it. Details are
// kept in the file beside it, in place of earlier ones of their names. A damaged
// file is refused and left as it is.
func (s Store) Put(ctx context.Context, name string, key Secret, details map[string]string) (where string, why error, err error) {
	if key, err = clean(key.Reveal(), "the key for "+name); err != nil {
		return "", nil, err
	}
	if name == "" {
		return "", nil, errors.New("store a key: no name is given")
	}
	if _, err := s.load(); err != nil {
		return "", nil, err
	}
	where, why = s.Path, ring.ErrNone
	if s.Ring != nil {
		if why = s.Ring.Set(ctx, entryOf(name), key.Reveal()); why == nil {
			where = inRing
		}
	}
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	return where, why, s.change(ctx, func(c credentials) error {
		if c[name] == nil {
			c[name] = map[string]json.RawMessage{}
		}
		delete(c[name], "api_key")
		delete(c[name], "keyring")
		if where == inRing {
			c[name]["keyring"] = json.RawMessage("true")
		} else if err := c.put(name, "api_key", key.Reveal()); err != nil {
			return err
		}
		for member, text := range details {
			if err := c.put(name, member, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// put sets a member; an empty text removes it.
func (c credentials) put(name, member, text string) error {
	if text == "" {
		delete(c[name], member)
		return nil
	}
	raw, err := oh.Marshal(text)
	if err != nil {
		return fmt.Errorf("store a key: %w", err)
	}
	c[name][member] = raw
	return nil
}

// Clear removes all that is stored under a name, in the keyring and in the
// file, and reports whether there was anything.
func (s Store) Clear(ctx context.Context, name string) (bool, error) {
	c, err := s.load()
	if err != nil {
		return false, err
	}
	was := c[name] != nil
	if s.Ring != nil {
		switch err := s.Ring.Delete(ctx, entryOf(name)); {
		case err == nil:
			was = true
		case c.marked(name) && !errors.Is(err, ring.ErrNoEntry):
			return false, fmt.Errorf("the key of %s is in %s and cannot be removed: %w", name, inRing, err)
		}
	} else if c.marked(name) {
		return false, fmt.Errorf("the key of %s is in %s, which is switched off (setting keyring, OPENHARNESS_KEYRING); switch it on to remove the key", name, inRing)
	}
	if c[name] == nil {
		return was, nil
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
		return "", unknown(l, name)
	}
	if p.Missing != "" {
		return "", &Unavailable{Profile: name, Why: p.Missing}
	}
	return slot(p, user), nil
}
