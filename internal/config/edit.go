package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/config/disk"
)

// ParseValue reads a value for a key as people type it on a command line: text
// as it is, yes and no for switches, JSON for lists and objects. A list takes a
// single plain text too.
func ParseValue(key, text string) (json.RawMessage, error) {
	path, err := keyPath(key)
	if err != nil {
		return nil, err
	}
	r, rest := rowOf(path)
	if len(rest) > 0 && r.key == "profiles" {
		return profileValue(rest, text)
	}
	if _, texts := r.ptr.(*map[string]string); texts && len(rest) > 0 {
		return textNode(text).json(), nil
	}
	_, list := r.ptr.(*[]string)
	if list && !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return (&node{kind: '[', items: []*node{textNode(text)}}).json(), nil
	}
	n, problem := r.fromText(text)
	if problem != "" {
		return nil, &Error{File: "oh config", Key: strings.Join(path, "."), Problem: problem}
	}
	return n.json(), nil
}

func profileValue(rest []string, text string) (json.RawMessage, error) {
	var p Profile
	for _, r := range profileRows(&p) {
		if len(rest) == 2 && r.key == rest[1] {
			if n, problem := r.fromText(text); problem == "" {
				return n.json(), nil
			}
		}
	}
	n, err := fromJSON([]byte(text), "oh config")
	if err != nil {
		return nil, err
	}
	return n.json(), nil
}

// rowOf returns the row that a path belongs to, and the names behind its key.
func rowOf(path []string) (row, []string) {
	var s Settings
	for _, r := range rows(&s) {
		depth := strings.Count(r.key, ".") + 1
		if len(path) >= depth && strings.Join(path[:depth], ".") == r.key {
			return r, path[depth:]
		}
	}
	return row{}, nil
}

// Set writes one value to the settings file of a scope (user, project or
// local), which is made if need be. All else in the file stays as it is,
// comments too. A value that would not load, an unknown key and a secret are
// refused.
func Set(ctx context.Context, p Paths, s Scope, key string, value json.RawMessage) error {
	path, err := check(p, s, key, value)
	if err != nil {
		return err
	}
	return change(ctx, p, s, func(t *tree) error { return t.set(path, value) })
}

// Unset removes one key from the settings file of a scope. It is no error when
// the key is not there.
func Unset(ctx context.Context, p Paths, s Scope, key string) error {
	path, err := keyPath(key)
	if err != nil {
		return err
	}
	return change(ctx, p, s, func(t *tree) error { return unset(t, path) })
}

// unset removes a key under our name and under Claude Code's.
func unset(t *tree, path []string) error {
	if r, rest := rowOf(path); r.claude != "" && r.claude != r.key {
		if err := t.unset(append(strings.Split(r.claude, "."), rest...)); err != nil {
			return err
		}
	}
	return t.unset(path)
}

// Change is one key that is to be set, or unset when Value is nil.
type Change struct {
	Key   string // dotted
	Value json.RawMessage
	Moved bool // the value stands in the file already: it may be a secret
}

// Apply makes several changes to the settings file of a scope: all of them or
// none. See [Set] for what is refused.
func Apply(ctx context.Context, p Paths, s Scope, changes ...Change) error {
	paths := make([][]string, len(changes))
	for i, c := range changes {
		var err error
		if c.Value == nil {
			paths[i], err = keyPath(c.Key)
		} else {
			paths[i], err = checked(p, s, c.Key, c.Value, c.Moved)
		}
		if err != nil {
			return err
		}
	}
	return change(ctx, p, s, func(t *tree) error {
		for i, c := range changes {
			var err error
			if c.Value == nil {
				err = unset(t, paths[i])
			} else {
				err = t.set(paths[i], c.Value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Add appends a text to a list in the settings file of a scope, unless it is
// there already.
func Add(ctx context.Context, p Paths, s Scope, key, text string) error {
	value := textNode(text).json()
	path, err := check(p, s, key, (&node{kind: '[', items: []*node{{kind: '"', lit: value}}}).json())
	if err != nil {
		return err
	}
	return change(ctx, p, s, func(t *tree) error { return t.add(path, value) })
}

// Drop removes a text from a list in the settings file of a scope. It is no
// error when it is not there.
func Drop(ctx context.Context, p Paths, s Scope, key, text string) error {
	path, err := keyPath(key)
	if err != nil {
		return err
	}
	return change(ctx, p, s, func(t *tree) error { return t.drop(path, text) })
}

// check loads the value as if it stood alone in the file.
func check(p Paths, s Scope, key string, value json.RawMessage) ([]string, error) {
	return checked(p, s, key, value, false)
}

func checked(p Paths, s Scope, key string, value json.RawMessage, secrets bool) ([]string, error) {
	path, err := keyPath(key)
	if err != nil {
		return nil, err
	}
	file, err := p.File(s)
	if err != nil {
		return nil, err
	}
	n, err := fromJSON(value, file)
	if err != nil {
		return nil, err
	}
	if name := secretIn(path, n); name != "" && !secrets {
		return nil, &Error{File: "oh config", Key: name, Problem: "it looks like a secret and is not written to a settings file: " +
			"set it in the environment (a settings file may name it as ${NAME}), or store a key with: oh auth login"}
	}
	root := &node{kind: '{'}
	if err := root.put(path, n); err != nil {
		return nil, err
	}
	b := newBuilder(Options{}, p)
	b.add(&layer{scope: s, file: file, trusted: true, flag: true, root: root})
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	if r, _ := rowOf(path); r.clamp && len(b.out.Warnings) > 0 {
		w := b.out.Warnings[0]
		return nil, &Error{File: w.File, Key: w.Key, Problem: w.Problem}
	}
	return path, nil
}

// aboutSecrets are settings that name where a secret is, and hold none.
var aboutSecrets = [...]string{"api_key_env", "api_key_helper", "client_key", "credential_slot", "token_field"}

// secretIn returns the key of a secret that the value holds as plain text.
func secretIn(path []string, n *node) string {
	key := strings.Join(path, ".")
	switch n.kind {
	case '"':
		if name := path[len(path)-1]; n.text != "" && SecretName(name) && !slices.Contains(aboutSecrets[:], name) && !strings.Contains(n.text, "${") {
			return key
		}
	case '{':
		for _, name := range n.keys {
			if found := secretIn(append(path[:len(path):len(path)], name), n.kids[name]); found != "" {
				return found
			}
		}
	case '[':
		for _, item := range n.items {
			if item.kind == '{' {
				if found := secretIn(path, item); found != "" {
					return found
				}
			}
		}
	}
	return ""
}

// change edits the file of a scope under its lock.
func change(ctx context.Context, p Paths, s Scope, edit func(*tree) error) error {
	file, err := p.File(s)
	if err != nil {
		return err
	}
	return disk.File{Path: file, Keep: true}.Update(ctx, func(old []byte) ([]byte, error) {
		t, err := newTree(file, old)
		if err != nil {
			return nil, err
		}
		if err := edit(t); err != nil {
			return nil, err
		}
		next := t.pack()
		if bytes.Equal(next, old) || old == nil && t.empty() {
			return nil, nil
		}
		if _, fault := parse(next); fault != nil {
			return nil, fmt.Errorf("edit %s: the outcome would not load, so nothing was written: %s", file, fault.Problem)
		}
		return next, nil
	})
}
