package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"io"

	"golang.org/x/image/tiff/lzw"
)

// decode returns the decoded data of a stream; what can be decoded of a broken
// one. Pictures and unknown filters give nothing.
func (f *File) decode(s *stream) []byte {
	data := s.data
	filters := f.list(s.dict["Filter"])
	parms := f.list(s.dict["DecodeParms"])
	for i, v := range filters {
		kind, _ := f.get(v).(name)
		var parm dict
		if i < len(parms) {
			parm, _ = f.get(parms[i]).(dict)
		}
		var r io.Reader
		switch kind {
		case "FlateDecode", "Fl":
			z, err := zlib.NewReader(bytes.NewReader(data))
			if err != nil {
				return nil
			}
			r = z
		case "LZWDecode", "LZW":
			r = lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8)
		case "ASCII85Decode", "A85":
			data, _, _ = bytes.Cut(bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~")), []byte("~"))
			r = ascii85.NewDecoder(bytes.NewReader(data))
		case "ASCIIHexDecode", "AHx":
			hex := scanner{append([]byte("<"), data...), 0}
			r = bytes.NewReader(hex.hex())
		case "RunLengthDecode", "RL":
			r = bytes.NewReader(runLength(data))
		default:
			return nil
		}
		// What is broken ends early: the part before is still worth reading.
		room := min(maxStream, maxDecoded-f.decoded)
		out, err := io.ReadAll(io.LimitReader(r, int64(max(room, 0))))
		if err != nil && len(out) == 0 {
			return nil
		}
		f.decoded += len(out)
		data = f.unpredict(out, parm)
	}
	return data
}

// list is a value as a list: itself, its items, or none.
func (f *File) list(v value) array {
	switch v := f.get(v).(type) {
	case nil:
		return nil
	case array:
		return v
	default:
		return array{v}
	}
}

func runLength(data []byte) []byte {
	var out []byte
	for i := 0; i < len(data) && len(out) < maxStream; {
		n := int(data[i])
		i++
		switch {
		case n == 128:
			return out
		case n < 128:
			end := min(i+n+1, len(data))
			out = append(out, data[i:end]...)
			i = end
		case i < len(data):
			out = append(out, bytes.Repeat(data[i:i+1], 257-n)...)
			i++
		}
	}
	return out
}

// unpredict undoes the filters of PNG rows that object and reference streams
// are written with.
func (f *File) unpredict(data []byte, parm dict) []byte {
	num := func(key name, or float64) int {
		n, ok := f.number(parm[key])
		if !ok || n < 1 || n > 1<<16 || key != "Columns" && n > 32 {
			n = or
		}
		return int(n)
	}
	if num("Predictor", 1) < 10 {
		return data
	}
	step := (num("Colors", 1)*num("BitsPerComponent", 8) + 7) / 8
	row := (num("Colors", 1)*num("BitsPerComponent", 8)*num("Columns", 1) + 7) / 8
	prev := make([]byte, row)
	var out []byte
	for len(data) > 1 {
		kind := data[0]
		cur := make([]byte, row)
		n := copy(cur, data[1:])
		data = data[1+n:]
		for i := range cur {
			var left, corner byte
			if i >= step {
				left, corner = cur[i-step], prev[i-step]
			}
			switch kind {
			case 1:
				cur[i] += left
			case 2:
				cur[i] += prev[i]
			case 3:
				cur[i] += byte((int(left) + int(prev[i])) / 2)
			case 4:
				cur[i] += paeth(left, prev[i], corner)
			}
		}
		out = append(out, cur[:n]...)
		prev = cur
	}
	return out
}

func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	da, db, dc := abs(p-int(a)), abs(p-int(b)), abs(p-int(c))
	switch {
	case da <= db && da <= dc:
		return a
	case db <= dc:
		return b
	}
	return c
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
