package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openharness/oh"
)

// long is a session with a bit of everything.
func long() []oh.Entry {
	return []oh.Entry{
		entry("s", oh.StateChanged{System: "be good", Mode: oh.ModePlan, Model: "m1", Title: "A title"}),
		user("u1", "look"),
		reply("a1", oh.Thinking{Text: "secret"}, oh.Text{Text: "I look."}, use("c1"), use("c2")),
		done("c1", "fence ``` inside"),
		entry("d2", oh.ToolDone{ID: "c2", Tool: "bash", IsError: true, Content: oh.Blocks{oh.Image{MediaType: "image/png", Data: []byte("123")}}}),
		user("u2", "steer"),
		user("u3", "more"),
		reply("a2", oh.Text{Text: "Done."}),
		entry("k", oh.Compaction{Phase: oh.CompactionDone, Trigger: "manual", History: []oh.Message{
			{ID: "sum", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "summary", Context: true}}}}}),
		user("u4", "on"),
		reply("a3", oh.Text{Text: "Further."}),
	}
}

func TestFork(t *testing.T) {
	s := store(t)
	write(t, s, "old", long()...)
	all := long()
	for _, tt := range []struct {
		at   string
		keep int
	}{
		{"", len(all)}, {"u1", 2}, {"a1", 5}, {"a1-r", 7}, {"a1-r.2", 7}, {"u2", 7}, {"a2", 8}, {"sum", 10}, {"u4", 10}, {"a3", 11},
	} {
		f, err := s.Fork("old", tt.at, "")
		if err != nil {
			t.Errorf("Fork at %q: %v", tt.at, err)
			continue
		}
		want := []oh.Event{oh.SessionStarted{Session: f.ID(), Version: "1.0.0", Dir: "/w", Parent: "old", ParentMessage: tt.at}}
		for _, e := range all[:tt.keep] {
			want = append(want, e.Event)
		}
		if diff := cmp.Diff(want, events(t, f)); diff != "" {
			t.Errorf("at %q: %s", tt.at, diff)
		}
		if err := errors.Join(f.Append(user("new", "x")), f.Close()); err != nil {
			t.Error(err)
		}
	}
	before, _ := os.ReadDir(s.Dir)
	if _, err := s.Fork("old", "nope", ""); err == nil || err.Error() != `fork session old: it has no message "nope"` {
		t.Errorf("%v", err)
	}
	if after, _ := os.ReadDir(s.Dir); len(after) != len(before) {
		t.Error("a failed fork left a file")
	}
	elsewhere := Store{Dir: filepath.Join(filepath.Dir(s.Dir), "second")}
	f, err := elsewhere.Fork("old", "u1", "")
	if err != nil || filepath.Dir(f.Path()) != elsewhere.Dir {
		t.Fatalf("%v", err)
	}
	f.Close()
}

// A fork is the original as it was at the call, whatever happens to that before
// the first entry; until then there is no file.
func TestForkIsLazy(t *testing.T) {
	s := store(t)
	path := write(t, s, "old", user("u1", "one"))
	appendRaw(t, path, "garbage\n")
	f, err := s.Fork("old", "", "new")
	if err != nil {
		t.Fatal(err)
	}
	g := open(t, s, "old")
	if err := g.Append(user("u2", "later")); err != nil {
		t.Fatal(err)
	}
	if names, _ := os.ReadDir(s.Dir); len(names) != 1 || f.Begun() {
		t.Errorf("%d files before the first entry", len(names))
	}
	if runtime.GOOS != "windows" { // an open file cannot be removed there
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	want := []oh.Event{oh.SessionStarted{Session: "new", Version: "1.0.0", Dir: "/w", Parent: "old"}, user("u1", "one").Event}
	if diff := cmp.Diff(want, events(t, f)); diff != "" || f.Skipped().Count != 1 {
		t.Error(diff, f.Skipped())
	}
	if err := f.Append(user("u3", "mine")); err != nil || !f.Begun() {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(want, user("u3", "mine").Event), events(t, f)); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Open("new"); !errors.As(err, new(*LockedError)) {
		t.Errorf("a fork that is written: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if names, _ := filepath.Glob(filepath.Join(s.Dir, ".*")); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

// Two forks under one id: the later one is refused, and nothing is overwritten.
func TestForkIntoExisting(t *testing.T) {
	s := store(t)
	write(t, s, "old", user("u1", "one"))
	f, err := s.Fork("old", "", "new")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := write(t, s, "new", user("other", "x"))
	before, _ := os.ReadFile(path)
	if err := f.Append(user("u2", "two")); !isUsage(err) || f.Begun() {
		t.Errorf("%v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the other session has changed")
	}
	if names, _ := os.ReadDir(s.Dir); len(names) != 2 {
		t.Errorf("%d files", len(names))
	}
}

func isUsage(err error) bool {
	var u interface{ Usage() bool }
	return errors.As(err, &u) && u.Usage()
}

// Looking at a session that is in use takes and changes nothing.
func TestView(t *testing.T) {
	s := store(t)
	path := write(t, s, "one", user("u1", "x"))
	g := open(t, s, "one")
	before, _ := os.ReadFile(path)
	f, err := s.View("one")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(events(t, g), events(t, f)); diff != "" {
		t.Error(diff)
	}
	if err := f.Append(user("u2", "y")); !errors.Is(err, errReading) {
		t.Errorf("Append = %v", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Error(err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("it has changed")
	}
}

func TestNamesThatAreMistakes(t *testing.T) {
	s := store(t)
	write(t, s, "one", user("u1", "x"))
	_, err := s.Create(start("one"))
	if !isUsage(err) {
		t.Errorf("an id that is taken: %v", err)
	}
	for _, ref := range []string{"../../etc", "", ".x", "a b", strings.Repeat("x", 129)} {
		if _, err := s.Find(ref); !isUsage(err) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if _, err := s.Find("other"); err == nil || isUsage(err) {
		t.Errorf("one that is not there: %v", err)
	}
}

var update = flag.Bool("update", false, "write the golden files")

func TestExport(t *testing.T) {
	s := store(t)
	id := "01936f2e-1111-7222-8333-444455556666"
	path := write(t, s, id, long()...)
	appendRaw(t, path, "garbage\n")
	setTime(t, path, at(30))
	for _, format := range Formats() {
		var out bytes.Buffer
		skipped, err := s.Export(&out, "0193", format)
		if err != nil || skipped.Count != 1 {
			t.Errorf("%s: %v, %v", format, skipped, err)
		}
		if format == JSONL {
			raw, _ := os.ReadFile(path)
			if want := strings.TrimSuffix(string(raw), "garbage\n"); out.String() != want {
				t.Error("jsonl is not what is in the file")
			}
			continue
		}
		if format != Markdown && !json.Valid(out.Bytes()) {
			t.Errorf("%s is no JSON", format)
		}
		golden := filepath.Join("testdata", format+".golden")
		if *update {
			appendRawNew(t, golden, out.Bytes())
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
	}
	_, err := s.Export(&bytes.Buffer{}, id, "html")
	if err == nil || err.Error() != `unknown export format "html"; use markdown, json, jsonl, openharness` {
		t.Error(err)
	}
	if _, err := s.Export(failing{}, id, JSON); !errors.Is(err, errDisk) {
		t.Errorf("a full disk: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errDisk }

func appendRawNew(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(mkdir(t, path), content, 0o644); err != nil {
		t.Fatal(err)
	}
}
