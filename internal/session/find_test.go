package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/openharness/oh"
)

func TestFind(t *testing.T) {
	s := store(t)
	other := Store{Dir: filepath.Join(filepath.Dir(s.Dir), "other-def")}
	one := write(t, s, "0193-aaaa", user("u", "1"))
	two := write(t, s, "0193-abbb", user("u", "2"))
	write(t, s, "0193-abbb2", oh.NewEntry(oh.Notice{Text: "no message"}))
	far := write(t, other, "0188-cccc", user("u", "far"))
	write(t, other, "0193-aaab", user("u", "hidden by a match here"))
	appendRaw(t, filepath.Join(s.Dir, "notes.txt"), "x")
	if err := os.Mkdir(filepath.Join(s.Dir, "dir"+ext), 0o700); err != nil {
		t.Fatal(err)
	}
	setTime(t, one, at(20))
	setTime(t, two, at(10))
	for _, tt := range []struct {
		ref  string
		want Ref
		err  string
	}{
		{"latest", Ref{ID: "0193-aaaa", Path: one}, ""},
		{"0193-a", Ref{}, "3 sessions begin with \"0193-a\"; give more of the id:\n  0193-abbb2\n  0193-abbb\n  0193-aaaa"},
		{"0193-aa", Ref{ID: "0193-aaaa", Path: one}, ""},
		{"0193-abbb", Ref{ID: "0193-abbb", Path: two}, ""},
		{"0188", Ref{ID: "0188-cccc", Path: far, Elsewhere: true}, ""},
		{"zz", Ref{}, `no session begins with "zz", in this project or any other; list them to see their ids`},
		{"dir", Ref{}, `no session begins with "dir", in this project or any other; list them to see their ids`},
		{"", Ref{}, "the session id is empty; give an id, its beginning, or latest"},
		{"../other-def/0188", Ref{}, `session id "../other-def/0188" begins with a dot`},
		{"a/b", Ref{}, `session id "a/b" holds '/'; only letters, digits, - _ and . are allowed`},
		{`a\b`, Ref{}, `session id "a\\b" holds '\\'; only letters, digits, - _ and . are allowed`},
		{"a\x00", Ref{}, `session id "a\x00" holds '\x00'; only letters, digits, - _ and . are allowed`},
		{strings.Repeat("a", 200), Ref{}, "the session id has 200 characters; at most 128 are allowed"},
	} {
		got, err := s.Find(tt.ref)
		if msg := fmt.Sprint(err); got != tt.want || (tt.err != "" || err != nil) && msg != tt.err {
			t.Errorf("Find(%q) = %+v, %v", tt.ref, got, err)
		}
	}
	var amb *AmbiguousError
	if _, err := s.Find("0193-a"); !errors.As(err, &amb) || len(amb.IDs) != 3 {
		t.Errorf("%v", err)
	}
	if f := open(t, s, "0188"); !f.Elsewhere() || f.Path() != far {
		t.Errorf("opened %s", f.Path())
	}
	if _, err := (Store{Dir: filepath.Join(t.TempDir(), "none", "x")}).Find(Latest); !errors.As(err, new(*NotFoundError)) {
		t.Errorf("latest of nothing: %v", err)
	}
	if _, err := (Store{}).Create(oh.SessionStarted{}); err == nil {
		t.Error("a store without folder made a session")
	}
}

func setTime(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestList(t *testing.T) {
	s := store(t)
	image := oh.Image{MediaType: "image/png", Data: make([]byte, 200_000)}
	paths := []string{
		write(t, s, "titled", user("u1", "the first words"), reply("a", oh.Text{Text: "r"}), user("u2", "more"),
			entry("t", oh.StateChanged{Title: "My title", Model: "m0"}), reply("b", oh.Text{Text: `],"model":"fake"`})),
		write(t, s, "plain", entry("c", oh.UserTurn{Source: oh.FromUser, Message: oh.Message{ID: "u", Role: oh.User, Content: oh.Blocks{
			oh.Text{Text: "date and branch", Context: true}, oh.Text{Text: " long\n" + strings.Repeat("words ", 40)}}}}),
			entry("q", oh.UserTurn{Source: oh.FromQueue, Message: oh.Message{ID: "q", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "notice"}}}})),
		write(t, s, "image-first", entry("i", oh.UserTurn{Source: oh.FromUser, Message: oh.Message{ID: "u", Role: oh.User,
			Content: oh.Blocks{image, oh.Text{Text: "what is this?"}}}}), reply("a", oh.Text{Text: "a dot"})),
		write(t, s, "no-message", entry("t", oh.StateChanged{System: "sys"})),
		write(t, s, "torn", user("u1", "kept")),
	}
	appendRaw(t, paths[4], "{\"id\":\"half")
	big := write(t, s, "big", user("u1", "start of big"))
	for n := range 30 {
		appendRaw(t, big, line1(reply(fmt.Sprint(n), oh.Text{Text: strings.Repeat("x", 10_000)})))
	}
	appendRaw(t, big, line1(user("u9", "end"))+line1(entry("t", oh.StateChanged{Title: "late title"})))
	for n, p := range append(paths, big) {
		setTime(t, p, at(n))
	}
	infos, err := s.List(0)
	if err != nil {
		t.Fatal(err)
	}
	want := []Info{
		{ID: "big", Title: "late title", Turns: 2, More: true, Model: "m1", Dir: "/w"},
		{ID: "torn", Title: "kept", Turns: 1, Dir: "/w"},
		{ID: "image-first", Title: "what is this?", Turns: 1, Model: "m1", Dir: "/w", More: true},
		{ID: "plain", Title: ("long " + strings.Repeat("words ", 40))[:79] + "…", Turns: 1, Dir: "/w"},
		{ID: "titled", Title: "My title", Turns: 2, Model: "m1", Dir: "/w"},
	}
	if diff := cmp.Diff(want, infos, cmpopts.IgnoreFields(Info{}, "Path", "Started", "Changed", "Bytes")); diff != "" {
		t.Error(diff)
	}
	for _, i := range infos {
		if i.Started.IsZero() || i.Bytes == 0 || i.Changed.IsZero() || i.Project() != "proj-abc" {
			t.Errorf("%+v", i)
		}
	}
	if infos, _ := s.List(2); len(infos) != 2 || infos[1].ID != "torn" {
		t.Errorf("List(2) = %v", infos)
	}
	here := Store{Dir: filepath.Join(filepath.Dir(s.Dir), "elsewhere")}
	if infos, err := here.ListAll(1); err != nil || len(infos) != 1 || !infos[0].Elsewhere {
		t.Errorf("ListAll = %v, %v", infos, err)
	}
	if info, err := here.Info("titl"); err != nil || info.Title != "My title" {
		t.Errorf("Info = %v, %v", info, err)
	}
	if _, err := os.Lstat(here.Dir); err == nil {
		t.Error("looking created a folder")
	}
}
