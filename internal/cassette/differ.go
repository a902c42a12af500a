package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/text"
)

// difference says where a request differs from a recorded one, in members that
// mean something; "" when it does not. Dates, times, ids of sessions and
// folders differ from run to run and are passed over.
func difference(was, is *request) string {
	if len(was.JSON) == 0 || len(is.JSON) == 0 {
		if !bytes.Equal(was.Body, is.Body) || (len(was.JSON) == 0) != (len(is.JSON) == 0) {
			return "the body differs"
		}
		return ""
	}
	var a, b any
	if json.Unmarshal(was.JSON, &a) != nil || json.Unmarshal(is.JSON, &b) != nil {
		return "the body differs"
	}
	return compare("", a, b)
}

// compare returns the first difference between two values, by its path.
func compare(at string, was, is any) string {
	switch w := was.(type) {
	case map[string]any:
		if i, ok := is.(map[string]any); ok {
			return compareMaps(at, w, i)
		}
	case []any:
		if i, ok := is.([]any); ok {
			return compareLists(at, w, i)
		}
	case string:
		if i, ok := is.(string); ok {
			if steady(w) == steady(i) {
				return ""
			}
			w, i = lines(w, i)
			return fmt.Sprintf("%s was %s and is %s", place(at), excerpt(w, i), excerpt(i, w))
		}
	}
	if reflect.DeepEqual(was, is) {
		return ""
	}
	return fmt.Sprintf("%s was %s and is %s", place(at), short(was), short(is))
}

func compareMaps(at string, was, is map[string]any) string {
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if volatile(key) {
			continue
		}
		i, ok := is[key]
		if !ok {
			return place(at+"."+key) + " is missing"
		}
		if where := compare(at+"."+key, was[key], i); where != "" {
			return where
		}
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[key]; !ok && !volatile(key) {
			return place(at+"."+key) + " is new"
		}
	}
	return ""
}

func compareLists(at string, was, is []any) string {
	for i := range min(len(was), len(is)) {
		if where := compare(fmt.Sprintf("%s[%d]", at, i), was[i], is[i]); where != "" {
			return where
		}
	}
	if len(was) != len(is) {
		return fmt.Sprintf("%s had %s and has %d", place(at), text.Plural(len(was), "element"), len(is))
	}
	return ""
}

// volatile reports whether a member names a session.
func volatile(key string) bool {
	switch key {
	case "prompt_cache_key", "user", "metadata", "safety_identifier":
		return true
	}
	return false
}

// steady is a text without what differs from run to run: numbers, which are
// those of dates, times and sizes, ids, and the folder of the run.
func steady(s string) string {
	var out strings.Builder
	for line := range strings.SplitAfterSeq(s, "\n") {
		if label, _, ok := strings.Cut(line, ":"); ok && folderLabel(label) {
			line = label + ":\n"
		}
		for line != "" {
			n := word(line)
			w := line[:max(n, 1)]
			if n > 0 && strings.ContainsAny(w, "0123456789") && (isID(w) || strings.Trim(w, "0123456789") == "") {
				w = "0"
			}
			out.WriteString(w)
			line = line[max(n, 1):]
		}
	}
	return out.String()
}

// word returns how many bytes at the start of s are letters, digits and
// hyphens.
func word(s string) int {
	for i := range len(s) {
		if b := s[i]; b != '-' && !(b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z') {
			return i
		}
	}
	return len(s)
}

// isID reports whether a word is a UUID, a hash or a date.
func isID(w string) bool { return len(w) >= 8 && strings.Trim(w, "0123456789abcdefABCDEF-") == "" }

// folderLabel reports whether a line that begins so names a folder or a branch.
func folderLabel(label string) bool {
	label = strings.ToLower(label)
	return strings.Contains(label, "directory") || strings.Contains(label, "folder") || strings.Contains(label, "branch") || strings.Contains(label, "date")
}

func place(at string) string {
	if at == "" {
		return "the body"
	}
	return strings.TrimPrefix(at, ".")
}

func short(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "something else"
	}
	return text.OneLine(string(raw), 80)
}

// lines returns the first line of each text that differs in earnest.
func lines(was, is string) (string, string) {
	for {
		w, restW, moreW := strings.Cut(was, "\n")
		i, restI, moreI := strings.Cut(is, "\n")
		if steady(w) != steady(i) || !moreW && !moreI {
			return w, i
		}
		was, is = restW, restI
	}
}

// excerpt is the part of s where it begins to differ from other.
func excerpt(s, other string) string {
	n := 0
	for n < len(s) && n < len(other) && s[n] == other[n] {
		n++
	}
	from := max(0, n-20)
	for from > 0 && s[from]&0xc0 == 0x80 {
		from--
	}
	lead := ""
	if from > 0 {
		lead = "…"
	}
	return fmt.Sprintf("%q", lead+text.OneLine(s[from:], 60))
}
