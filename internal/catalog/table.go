package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed models.txt
var modelText string

var builtInRows = sync.OnceValue(func() []row {
	rows, err := parseModels(modelText)
	if err != nil {
		return nil // a test holds that the table can be read
	}
	return rows
})

// row is one line of the table of models.
type row struct {
	pattern string // a name or the beginning of a family's; "" fits all of a service
	maker   string // with service "": whose models
	service string // the one service that the row speaks of
	facts   string // read when the row is needed
}

// parseModels reads the table of models, so far as to say which row speaks of
// which model. The rows come in the order in which they count: those of makers
// before those of services, and shorter names before longer.
func parseModels(table string) ([]row, error) {
	rows := make([]row, 0, 256)
	var maker, service string
	n := 0
	for line := range strings.Lines(table) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		pattern, facts, _ := strings.Cut(line, " ")
		if line[0] == '[' {
			name, ok := strings.CutSuffix(facts, "]")
			switch {
			case ok && pattern == "[maker":
				maker, service = name, ""
			case ok && pattern == "[service":
				maker, service = "", name
			default:
				return nil, fmt.Errorf("models, line %d: %q is no [maker NAME] or [service NAME]", n, line)
			}
			continue
		}
		if maker+service == "" {
			return nil, fmt.Errorf("models, line %d: %q belongs to no maker or service", n, line)
		}
		if pattern == "*" {
			pattern = ""
		}
		rows = append(rows, row{pattern: pattern, maker: maker, service: service, facts: facts})
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		if (a.service == "") != (b.service == "") {
			if a.service == "" {
				return -1
			}
			return 1
		}
		return len(a.pattern) - len(b.pattern)
	})
	return rows, nil
}

// match reports whether the row speaks of a name, and whether exactly: but for
// a date or -latest.
func (r row) match(name string) (exact, ok bool) {
	if r.pattern == "" {
		return false, true
	}
	rest, ok := strings.CutPrefix(name, r.pattern)
	if !ok {
		return false, false
	}
	if rest == "" || rest == "-latest" || rest == "@default" {
		return true, true
	}
	if last := r.pattern[len(r.pattern)-1]; last != '-' && last != '.' && isAlnum(rest[0]) {
		return false, false
	}
	date := strings.ReplaceAll(strings.TrimLeft(rest, "-@"), "-", "")
	return rest[0] != '.' && len(date) == 8 && strings.Trim(date, "0123456789") == "", true
}

func isAlnum(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' }

// at reports whether the row's service is the profile's.
func (r row) at(p Profile) bool { return r.service == p.Name || r.service == p.Provider }

// sold reports whether a profile has this row's price: its maker's own, one
// that passes prices on, and profiles that are not built in.
func (r row) sold(p Profile, builtIn bool) bool {
	return !builtIn || p.Provider == r.maker || p.Resells
}

// apply lays the row's facts over what is known, its prices only when they hold.
func (r row) apply(i *Info, prices bool) {
	for word := range strings.FieldsSeq(r.facts) {
		key, text, ok := strings.Cut(word, "=")
		if !ok {
			text = "yes"
		}
		switch {
		case key == "price" && prices:
			i.Price = readPrice(text)
		case key == "price", key == "id", key == "old": // see name
			continue
		}
		f, _ := findField(key, true)
		if v, err := f.fromText(text); err == nil && f.set != nil {
			f.set(i, v)
		}
	}
}

// name returns the id of the one model that the row speaks of; "" for families
// and for models that are not offered any more.
func (r row) name() string {
	id, priced := r.pattern, false
	for word := range strings.FieldsSeq(r.facts) {
		key, text, _ := strings.Cut(word, "=")
		switch key {
		case "price":
			priced = true
		case "id":
			id = text
		case "old":
			return ""
		}
	}
	if !priced {
		return ""
	}
	return id
}

// readPrice reads input/output/cache read/cache write.
func readPrice(text string) Price {
	p := Price{Known: true}
	to := []*float64{&p.In, &p.Out, &p.CacheRead, &p.CacheWrite}
	for n, s := range strings.Split(text, "/") {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || n >= len(to) {
			return Price{}
		}
		*to[n] = v
	}
	return p
}
