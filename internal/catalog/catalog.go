// Package catalog knows the model services and models: addresses, names of key
// variables, limits, manners and prices. One table, which is data (profiles.txt,
// models.txt), drives profiles, requests and costs. Over it lie what was
// refreshed from a public catalogue, what the user's settings say, and what was
// learned of a server; the later wins.
//
// It holds no keys. It reads no settings and no environment: it is told. Only
// [Refresh], [AskServer] and the functions of local.go use the network, and only
// towards addresses they are given or the loopback interface. Nothing is read
// or parsed before it is asked for, and no damaged file or entry keeps the rest
// from counting.
package catalog

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/openharness/oh"
)

// Config says what lies over the built-in tables. The zero value is nothing.
type Config struct {
	File     string                       // what [Refresh] wrote; "" or a missing file is none
	Models   map[string]Fields            // the user's, by a name or a beginning that ends in *
	Profiles map[string]map[string]Fields // likewise, for one profile
}

// Catalog answers for services and models. It is safe for concurrent use. The
// zero value is not usable; see [Load].
type Catalog struct {
	profiles func() []Profile
	rows     func() []row
	latest   func() (*latest, error)
	cfg      Config

	mu      sync.RWMutex // guards learned
	learned map[[2]string]Fields
}

// Load makes a catalogue. It reads nothing yet.
func Load(cfg Config) *Catalog {
	return &Catalog{profiles: builtIn, rows: builtInRows, cfg: cfg, learned: map[[2]string]Fields{},
		latest: sync.OnceValues(func() (*latest, error) { return readLatest(cfg.File) })}
}

// Warning says what is wrong with the refreshed file, which then does not
// count; nil when it is sound or missing.
func (c *Catalog) Warning() error {
	_, err := c.latest()
	return err
}

// Profiles returns the built-in profiles in the order in which they are tried.
func (c *Catalog) Profiles() []Profile { return slices.Clone(c.profiles()) }

// Find returns the built-in profile of that name.
func (c *Catalog) Find(name string) (Profile, bool) { return findProfile(c.profiles(), name) }

// Model returns what is known of a model of a profile. profile may be "" or a
// user's own; prices then are the maker's.
func (c *Catalog) Model(profile, name string) Info {
	p, ok := c.Find(profile)
	if !ok {
		p.Name = profile
	}
	return c.model(p, name)
}

// Of is Model for a profile with the user's changes laid over it.
func (c *Catalog) Of(p Profile, name string) Info { return c.model(p, name) }

// Cost returns the price in US dollars of one or more requests to a model, by
// list prices. Surcharges for very long prompts are not counted. known is false
// when no price is known; the cost is then 0. A local profile costs nothing,
// unless the user set a price.
func (c *Catalog) Cost(profile, model string, u oh.Usage) (usd float64, known bool) {
	price := c.Model(profile, model).Price
	if !price.Known {
		return 0, false
	}
	sum := float64(u.InputTokens)*price.In + float64(u.OutputTokens)*price.Out +
		float64(u.CacheReadTokens)*cmp.Or(price.CacheRead, price.In) + float64(u.CacheWriteTokens)*cmp.Or(price.CacheWrite, price.In)
	return sum / 1e6, true
}

// Named is a model with what is known of it.
type Named struct {
	Name string
	Info Info
}

// Models returns the models of a profile that the catalogue can name, without
// asking the service: its default, those of the refreshed file, else those of
// its vendor in the built-in table, and those of the user. The default comes
// first, the others by name.
func (c *Catalog) Models(profile string) []Named {
	p, _ := c.Find(profile)
	p.Name = profile
	var names []string
	if list, err := c.latest(); err == nil {
		names = list.names(p.Listed)
	}
	if len(names) == 0 {
		names = c.priced(p)
	}
	for _, own := range []map[string]Fields{c.cfg.Models, c.cfg.Profiles[profile]} {
		for name := range own {
			if !strings.HasSuffix(name, "*") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == p.Model })
	if p.Model != "" {
		names = append([]string{p.Model}, names...)
	}
	out := make([]Named, len(names))
	for n, name := range names {
		out[n] = Named{Name: name, Info: c.model(p, name)}
	}
	return out
}

// priced returns the models that the table names at a profile.
func (c *Catalog) priced(p Profile) []string {
	var names []string
	for _, r := range c.rows() {
		if name := r.name(); name != "" && (r.service == "" && r.maker == p.Provider || r.service != "" && r.at(p)) {
			names = append(names, name)
		}
	}
	return names
}

// Learn adds what a server said of a model (see [AskServer], [Window]). It
// counts from the next question on, before everything else but what the user
// set.
func (c *Catalog) Learn(profile, model string, f Fields) {
	if len(f) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{profile, model}
	all := Fields{}
	for _, from := range []Fields{c.learned[key], f} {
		for k, v := range from {
			all[k] = v
		}
	}
	c.learned[key] = all
}

// Window is a context window in tokens, as something to learn.
func Window(tokens int) Fields {
	data, err := json.Marshal(tokens)
	if err != nil {
		return nil
	}
	return Fields{"context_window": data}
}

// overrides lays over a model what was learned, then what the user says of it:
// the shorter name before the longer, all profiles before the one.
func (c *Catalog) overrides(i *Info, p Profile, name, plain string) {
	c.mu.RLock()
	i.apply(c.learned[[2]string{p.Name, name}])
	c.mu.RUnlock()
	raw := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), long)
	for _, own := range []map[string]Fields{c.cfg.Models, c.cfg.Profiles[p.Name]} {
		var fit []string
		for pattern := range own {
			if fits(pattern, raw) || fits(pattern, plain) || strings.EqualFold(pattern, name) {
				fit = append(fit, pattern)
			}
		}
		slices.SortFunc(fit, func(a, b string) int {
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return strings.Compare(a, b)
		})
		for _, pattern := range fit {
			i.Known = true
			i.apply(own[pattern])
		}
	}
}

func fits(pattern, name string) bool {
	pattern = strings.ToLower(pattern)
	if stem, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, stem)
	}
	return pattern == name
}

// apply lays facts over what is known; those that cannot be read are passed
// over (see [CheckField]). A price is known when those of input and output are.
func (i *Info) apply(facts Fields) {
	for key, raw := range facts {
		f, ok := findField(key, false)
		if !ok {
			continue
		}
		if v, err := f.fromJSON(raw); err == nil {
			f.set(i, v)
		}
	}
	i.Price.Known = i.Price.Known || i.in && i.out
}
