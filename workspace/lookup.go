package workspace

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxNames bounds how many names of a folder are looked at for a near name.
const maxNames = 20_000

// lookup returns path with the spelling found on disk: a part that does not
// exist is replaced by the one name in its folder that differs from it only in
// Unicode form or kind of space or apostrophe (macOS writes names so).
func lookup(path string) string {
	if _, err := os.Lstat(path); err == nil {
		return path
	}
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	if name == "" || dir == path {
		return path
	}
	dir = lookup(dir)
	full := filepath.Join(dir, name)
	if _, err := os.Lstat(full); err == nil {
		return full
	}
	want := fold(name)
	found := ""
	for _, n := range names(dir) {
		if fold(n) == want {
			if found != "" {
				return full
			}
			found = n
		}
	}
	if found == "" {
		return full
	}
	return filepath.Join(dir, found)
}

// names returns the names in a folder, none when it cannot be read.
func names(dir string) []string {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(maxNames)
	return list
}

// fold maps names that look the same to one string: canonical decomposition,
// plain spaces, plain apostrophes. Plain ASCII is returned as it is.
func fold(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if ascii {
		return s
	}
	table := decompositions()
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == 0xA0 || r == 0x202F || r == 0x205F || r == 0x3000 || r >= 0x2000 && r <= 0x200A:
			b.WriteByte(' ')
		case r == 0x2018 || r == 0x2019:
			b.WriteByte('\'')
		case r >= 0xAC00 && r <= 0xD7A3:
			writeHangul(&b, r-0xAC00)
		default:
			if d, ok := table[r]; ok {
				b.WriteString(d)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// writeHangul decomposes a syllable by the arithmetic of the Unicode standard,
// section 3.12.
func writeHangul(b *strings.Builder, s rune) {
	b.WriteRune(0x1100 + s/588)
	b.WriteRune(0x1161 + s%588/28)
	if t := s % 28; t != 0 {
		b.WriteRune(0x11A7 + t)
	}
}

//go:embed nfd.txt
var nfd string

// decompositions reads nfd.txt: words of a composed character followed by its
// full canonical decomposition (Unicode 15, field 5 of UnicodeData.txt).
var decompositions = sync.OnceValue(func() map[rune]string {
	table := map[rune]string{}
	for word := range strings.FieldsSeq(nfd) {
		r, n := utf8.DecodeRuneInString(word)
		table[r] = word[n:]
	}
	return table
})
