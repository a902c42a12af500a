// Package stats counts what sessions have used: tokens, cost, tools, by model
// and by day, over the session logs.
//
// It reads logs as streams, of which it keeps nothing but sums, and looks at no
// more of an entry than it counts. It knows no prices and no files: both come
// in. An entry that several logs hold, since forks begin as copies, counts once.
package stats

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/openharness/oh"
)

// Log is one session.
type Log struct {
	ID     string
	Parent string // the session it is a fork of

	// Entries yields what the log holds, in order. It is called once. Raw is
	// valid until the next one.
	Entries func() iter.Seq2[Entry, error]
}

// Entry is an event of record that is not decoded: its type, and its JSON.
type Entry struct {
	ID   string
	Time time.Time
	Type string
	Raw  []byte
}

// Config says what is counted.
type Config struct {
	Since  time.Time      // entries before it do not count; zero: all do
	Zone   *time.Location // of days; nil is local
	Price  func(profile, model string, u oh.Usage) (usd float64, known bool)
	Failed func(id string, err error) // a log that cannot be read to its end; may be called from several goroutines

	// Workers is how many logs are read at a time; 0 is 1.
	Workers int
}

// Sum is what was used.
type Sum struct {
	Replies int      `json:"replies"`
	Side    int      `json:"side_requests"`
	Usage   oh.Usage `json:"usage"`
	Cost    float64  `json:"cost_usd"`
	Known   bool     `json:"cost_known"` // no price was missing
}

// Model is what a model of a profile was used for.
type Model struct {
	Profile string `json:"profile"`
	Model   string `json:"model"`
	Sum
}

// Tool counts the calls of a tool.
type Tool struct {
	Name   string `json:"tool"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed"` // with an error, or never run
}

// Day is what was used on one day.
type Day struct {
	Date     string `json:"date"` // 2006-01-02
	Sessions int    `json:"sessions"`
	Prompts  int    `json:"prompts"`
	Sum
}

// Report is what was counted. Lists begin with what was used most, days with
// the first.
type Report struct {
	Sessions int     `json:"sessions"`
	Prompts  int     `json:"prompts"`
	Calls    int     `json:"tool_calls"`
	Failed   int     `json:"tool_calls_failed"`
	Total    Sum     `json:"total"`
	Models   []Model `json:"models"`
	Tools    []Tool  `json:"tools"`
	Days     []Day   `json:"days"`
}

// Count reads the logs. What it reports does not depend on their order, nor on
// how many are read at a time.
func Count(logs []Log, cfg Config) Report {
	if cfg.Zone == nil {
		cfg.Zone = time.Local
	}
	jobs := make(chan []Log)
	parts := make([]*tally, max(cfg.Workers, 1))
	var wg sync.WaitGroup
	for i := range parts {
		t := &tally{cfg: &cfg, uses: map[key]*use{}, tools: map[string]*Tool{}, days: map[string]*day{}}
		parts[i] = t
		wg.Go(func() {
			for family := range jobs {
				t.family(family)
			}
		})
	}
	for _, family := range families(logs) {
		jobs <- family
	}
	close(jobs)
	wg.Wait()
	for _, t := range parts[1:] {
		parts[0].merge(t)
	}
	return parts[0].report()
}

// seen knows the entries that were counted of a family; nil for a session that
// has none in common with another.
type seen map[string]bool

// first reports whether an entry comes for the first time.
func (s seen) first(id string) bool {
	if s == nil || id == "" {
		return true
	}
	if s[id] {
		return false
	}
	s[id] = true
	return true
}

// families puts a session and its forks together: parents come first, so that
// what is in common counts for them.
func families(logs []Log) [][]Log {
	parent := map[string]string{}
	for _, l := range logs {
		if l.Parent != "" {
			parent[l.ID] = l.Parent
		}
	}
	byRoot := map[string][]Log{}
	depth := map[string]int{}
	var roots []string
	for _, l := range logs {
		root := l.ID
		for ; parent[root] != "" && depth[l.ID] < len(parent); depth[l.ID]++ {
			root = parent[root]
		}
		if byRoot[root] == nil {
			roots = append(roots, root)
		}
		byRoot[root] = append(byRoot[root], l)
	}
	out := make([][]Log, 0, len(roots))
	for _, root := range roots {
		family := byRoot[root]
		slices.SortFunc(family, func(a, b Log) int {
			return cmp.Or(cmp.Compare(depth[a.ID], depth[b.ID]), cmp.Compare(a.ID, b.ID))
		})
		out = append(out, family)
	}
	return out
}

// key is a model on a day.
type key struct{ date, profile, model string }

// use is what one model used on a day.
type use struct {
	replies, side int
	usage         oh.Usage
}

type day struct{ sessions, prompts int }

// tally is what one worker has counted.
type tally struct {
	cfg      *Config
	sessions int
	prompts  int
	uses     map[key]*use
	tools    map[string]*Tool
	days     map[string]*day
}

// family counts sessions that may have entries in common.
func (t *tally) family(logs []Log) {
	var kin seen
	if len(logs) > 1 {
		kin = seen{}
	}
	for _, l := range logs {
		t.log(l, kin)
	}
}

// log counts one log. What a model used counts for the profile that the
// session had then.
func (t *tally) log(l Log, kin seen) {
	profile := ""
	active := map[string]bool{}
	for e, err := range l.Entries() {
		if err != nil {
			if t.cfg.Failed != nil {
				t.cfg.Failed(l.ID, err)
			}
			break
		}
		if e.Type == "state_changed" {
			var st struct {
				Profile string `json:"profile"`
			}
			if json.Unmarshal(e.Raw, &st) == nil && st.Profile != "" {
				profile = st.Profile
			}
			continue
		}
		if e.Time.Before(t.cfg.Since) || !counts(e.Type) || !kin.first(e.ID) {
			continue
		}
		date := e.Time.In(t.cfg.Zone).Format(time.DateOnly)
		if t.entry(e, date, profile) {
			active[date] = true
		}
	}
	if len(active) > 0 {
		t.sessions++
	}
	for date := range active {
		t.day(date).sessions++
	}
}

func counts(kind string) bool {
	switch kind {
	case "user_turn", "message_done", "side_usage", "tool_done":
		return true
	}
	return false
}

// entry counts one entry; false when it is none that counts.
func (t *tally) entry(e Entry, date, profile string) bool {
	switch e.Type {
	case "user_turn":
		var u struct {
			Source oh.Source `json:"source"`
		}
		if json.Unmarshal(e.Raw, &u) != nil || u.Source != oh.FromUser {
			return false
		}
		t.prompts++
		t.day(date).prompts++
	case "message_done":
		var m struct {
			Message struct {
				Model string   `json:"model"`
				Usage oh.Usage `json:"usage"`
			} `json:"message"`
		}
		if json.Unmarshal(e.Raw, &m) != nil {
			return false
		}
		u := t.use(key{date, profile, m.Message.Model})
		u.replies++
		u.usage = u.usage.Add(m.Message.Usage)
	case "side_usage":
		var s oh.SideUsage
		if json.Unmarshal(e.Raw, &s) != nil {
			return false
		}
		u := t.use(key{date, cmp.Or(s.Profile, profile), s.Model})
		u.side++
		u.usage = u.usage.Add(s.Usage)
	case "tool_done":
		var d struct {
			Tool  string `json:"tool"`
			Error bool   `json:"is_error"`
		}
		if json.Unmarshal(e.Raw, &d) != nil {
			return false
		}
		x := t.tool(d.Tool)
		x.Calls++
		if d.Error {
			x.Failed++
		}
	}
	return true
}

func (t *tally) use(k key) *use {
	if t.uses[k] == nil {
		t.uses[k] = &use{}
	}
	return t.uses[k]
}

func (t *tally) tool(name string) *Tool {
	if t.tools[name] == nil {
		t.tools[name] = &Tool{Name: name}
	}
	return t.tools[name]
}

func (t *tally) day(date string) *day {
	if t.days[date] == nil {
		t.days[date] = &day{}
	}
	return t.days[date]
}

func (t *tally) merge(o *tally) {
	t.sessions += o.sessions
	t.prompts += o.prompts
	for k, u := range o.uses {
		mine := t.use(k)
		mine.replies += u.replies
		mine.side += u.side
		mine.usage = mine.usage.Add(u.usage)
	}
	for name, x := range o.tools {
		mine := t.tool(name)
		mine.Calls += x.Calls
		mine.Failed += x.Failed
	}
	for date, d := range o.days {
		mine := t.day(date)
		mine.sessions += d.sessions
		mine.prompts += d.prompts
	}
}

// add counts what a model used. What was used of a model without a price makes
// the cost unknown, unless it used nothing.
func (s *Sum) add(u *use, usd float64, known bool) {
	s.Replies += u.replies
	s.Side += u.side
	s.Usage = s.Usage.Add(u.usage)
	s.Cost += usd
	s.Known = s.Known && (known || u.usage == oh.Usage{})
}

// report sums up.
func (t *tally) report() Report {
	r := Report{Sessions: t.sessions, Prompts: t.prompts, Total: Sum{Known: true}, Models: []Model{}, Tools: []Tool{}, Days: []Day{}}
	models, days := map[key]*Model{}, map[string]*Day{}
	date := func(d string) *Day {
		if days[d] == nil {
			days[d] = &Day{Date: d, Sum: Sum{Known: true}}
		}
		return days[d]
	}
	for _, k := range slices.SortedFunc(maps.Keys(t.uses), compareKeys) { // in order, so that sums of floats are stable
		u := t.uses[k]
		usd, known := t.price(k, u.usage)
		name := key{profile: k.profile, model: k.model}
		if models[name] == nil {
			models[name] = &Model{Profile: k.profile, Model: k.model, Sum: Sum{Known: true}}
		}
		models[name].add(u, usd, known)
		date(k.date).add(u, usd, known)
		r.Total.add(u, usd, known)
	}
	for d, x := range t.days {
		date(d).Sessions, date(d).Prompts = x.sessions, x.prompts
	}
	for _, m := range models {
		r.Models = append(r.Models, *m)
	}
	for _, x := range t.tools {
		r.Tools = append(r.Tools, *x)
		r.Calls += x.Calls
		r.Failed += x.Failed
	}
	for _, d := range days {
		r.Days = append(r.Days, *d)
	}
	slices.SortFunc(r.Models, func(a, b Model) int {
		return cmp.Or(cmp.Compare(b.Replies+b.Side, a.Replies+a.Side), cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Model, b.Model))
	})
	slices.SortFunc(r.Tools, func(a, b Tool) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) })
	slices.SortFunc(r.Days, func(a, b Day) int { return cmp.Compare(a.Date, b.Date) })
	return r
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.profile, b.profile), cmp.Compare(a.model, b.model))
}

func (t *tally) price(k key, u oh.Usage) (float64, bool) {
	if t.cfg.Price == nil {
		return 0, false
	}
	return t.cfg.Price(k.profile, k.model, u)
}
