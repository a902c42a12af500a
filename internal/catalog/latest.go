package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config/disk"
)

// latest is the refreshed catalogue, reduced to the services of the built-in
// profiles and to what is used here. Its file is JSON, laid out so that a model
// is found without reading the others: a line for the head, one for the
// beginning and end of each service, and one for each model.
type latest struct {
	head
	Services map[string][]listed // by the service's id; models by name
}

type head struct {
	Version int       `json:"version"`
	Source  string    `json:"source"`
	ETag    string    `json:"etag,omitempty"`
	Fetched time.Time `json:"fetched"`
}

// listed is a model as its line has it; facts are read when they are asked for.
type listed struct {
	name  string
	facts string // a JSON object
}

const (
	latestVersion = 1
	servicesMark  = `,"services":{`
)

// encode makes the file.
func (l *latest) encode() ([]byte, error) {
	out, err := oh.Marshal(l.head)
	if err != nil {
		return nil, fmt.Errorf("keep the catalogue: %w", err)
	}
	out = append(bytes.TrimSuffix(out, []byte("}")), servicesMark+"\n"...)
	for i, id := range slices.Sorted(maps.Keys(l.Services)) {
		if i > 0 {
			out = append(out, ",\n"...)
		}
		out = append(out, `"`+id+`":{`+"\n"...)
		for j, m := range l.Services[id] {
			if j > 0 {
				out = append(out, ",\n"...)
			}
			out = append(append(out, `"`+m.name+`":`...), m.facts...)
		}
		out = append(out, "\n}"...)
	}
	return append(out, "\n}}\n"...), nil
}

var errDamaged = errors.New("the file is damaged or of another version")

// decodeLatest reads the file so far as to find each model in it.
func decodeLatest(data []byte) (*latest, error) {
	first, rest, _ := strings.Cut(string(data), "\n")
	first, ok := strings.CutSuffix(first, servicesMark)
	rest, end := strings.CutSuffix(rest, "\n}}\n")
	l := &latest{Services: map[string][]listed{}}
	if !ok || !end || json.Unmarshal([]byte(first+"}"), &l.head) != nil || l.Version != latestVersion {
		return nil, errDamaged
	}
	service := ""
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), ",")
		if line == "}" {
			service = ""
			continue
		}
		line = strings.TrimPrefix(line, `"`)
		i := strings.Index(line, `":{`)
		if i < 0 {
			return nil, errDamaged
		}
		name, facts := line[:i], line[i+len(`":`):]
		switch {
		case service == "" && facts == "{":
			service = name
		case service == "" || !strings.HasSuffix(facts, "}"):
			return nil, errDamaged
		default:
			l.Services[service] = append(l.Services[service], listed{name, facts})
		}
	}
	for _, models := range l.Services {
		slices.SortStableFunc(models, func(a, b listed) int { return cmp.Compare(a.name, b.name) })
	}
	return l, nil
}

func orEmpty(l *latest, err error) *latest {
	if err != nil {
		return &latest{}
	}
	return l
}

// readLatest reads the refreshed file, if there is one.
func readLatest(file string) (*latest, error) {
	if file == "" {
		return &latest{}, nil
	}
	data, err := disk.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &latest{}, nil
	}
	if err != nil {
		return &latest{}, fmt.Errorf("the refreshed catalogue is not used: %w", err)
	}
	l, err := decodeLatest(data)
	if err != nil {
		return &latest{}, fmt.Errorf("the refreshed catalogue is not used: read %s: %w; fetch it anew with: oh model refresh", file, err)
	}
	return l, nil
}

func (l *latest) names(id string) []string {
	var names []string
	for _, m := range l.Services[id] {
		names = append(names, m.name)
	}
	return names
}

// refreshed lays over a model what the refreshed file says of it at this
// service.
func (c *Catalog) refreshed(i *Info, p Profile, name, plain string) {
	l, _ := c.latest()
	if l == nil || len(l.Services) == 0 {
		return
	}
	id := p.Listed
	if id == "" {
		own, _ := byVendor(c.profiles(), p.Provider)
		id = own.Listed
	}
	f := l.find(id, name, plain)
	if f == nil {
		return
	}
	i.listed = true
	before := *i
	i.apply(f)
	if before.Long > 0 && i.Window == before.Long {
		i.Window = before.Window // the long window is had by name only
	}
	// Catalogues tell the most that a reply can have, often the whole window.
	// What is sent as the limit must leave room for the prompt.
	i.MaxOutput = cmp.Or(before.MaxOutput, min(i.MaxOutput, i.Window/4))
}

// find looks a model up by its name, else by what is left of it without folders
// and date.
func (l *latest) find(id, name, plain string) Fields {
	raw := strings.TrimSuffix(strings.TrimSpace(name), long)
	models := l.Services[id]
	best, ok := slices.BinarySearchFunc(models, raw, func(m listed, raw string) int { return cmp.Compare(m.name, raw) })
	if !ok {
		best = nearest(models, plain)
	}
	if best < 0 {
		return nil
	}
	var f Fields
	if json.Unmarshal([]byte(models[best].facts), &f) != nil {
		return nil
	}
	return f
}

// nearest returns the index of the model whose name is plain but for folders and
// date, the longest of several; -1 for none.
func nearest(models []listed, plain string) int {
	best := -1
	for i, m := range models {
		stem, _, _ := normal(m.name)
		if exact, ok := (row{pattern: stem}).match(plain); stem != "" && ok && exact && (best < 0 || len(m.name) > len(models[best].name)) {
			best = i
		}
	}
	return best
}
