package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/config/disk"
	"github.com/openharness/oh/internal/permit"
)

// grants are the rules that a person allowed "always in this project". They are
// kept with the user's data and not in the project, whose own settings count
// for nothing until the folder is trusted.
type grants struct {
	Root  string   `json:"root"`
	Allow []string `json:"allow"`
}

func (r *Runtime) grantsPath() string {
	return filepath.Join(r.paths.Data, "grants", config.Key(r.paths.Root)+".json")
}

// loadGrants returns the granted rules. A damaged file grants nothing, which is
// said.
func (r *Runtime) loadGrants() []permit.Rule {
	path := r.grantsPath()
	raw, err := disk.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var g grants
	if err == nil {
		err = json.Unmarshal(raw, &g)
	}
	if err != nil {
		r.note(oh.Warning, fmt.Sprintf("What was allowed always in this project cannot be read and does not count: %s: %v", path, err))
		return nil
	}
	var rules []permit.Rule
	for _, text := range g.Allow {
		rules = append(rules, permit.Rule{Text: text, Effect: oh.Allow, Scope: permit.Local, File: path})
	}
	return rules
}

// saveGrant keeps an allow rule for the project.
func (r *Runtime) saveGrant(rule string) error {
	file := disk.File{Path: r.grantsPath()}
	return file.Update(context.Background(), func(old []byte) ([]byte, error) {
		g := grants{Root: r.paths.Root}
		if len(old) > 0 {
			if err := json.Unmarshal(old, &g); err != nil {
				return nil, fmt.Errorf("%s is damaged: %w", file.Path, err)
			}
		}
		if !slices.Contains(g.Allow, rule) {
			g.Allow = append(g.Allow, rule)
		}
		out, err := oh.Marshal(g)
		return append(out, '\n'), err
	})
}
