package file

import (
	"bytes"
	"encoding/binary"
)

// imageType tells an image that models take by its first bytes; "" for
// anything else.
func imageType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// imageSize reads width and height in pixels from an image's header; zeros
// when they are not found.
func imageSize(kind string, data []byte) (w, h int) {
	be, le := binary.BigEndian, binary.LittleEndian
	switch {
	case kind == "image/png" && len(data) >= 24:
		return int(be.Uint32(data[16:])), int(be.Uint32(data[20:]))
	case kind == "image/gif" && len(data) >= 10:
		return int(le.Uint16(data[6:])), int(le.Uint16(data[8:]))
	case kind == "image/jpeg":
		return jpegSize(data)
	case kind == "image/webp" && len(data) >= 30:
		switch string(data[12:16]) {
		case "VP8 ":
			return int(le.Uint16(data[26:]) & 0x3fff), int(le.Uint16(data[28:]) & 0x3fff)
		case "VP8L":
			bits := le.Uint32(data[21:])
			return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
		case "VP8X":
			return int(le.Uint32(data[24:])&0xffffff) + 1, int(le.Uint32(data[26:])>>8) + 1
		}
	}
	return 0, 0
}

// jpegSize finds the frame header among the segments.
func jpegSize(data []byte) (w, h int) {
	for i := 2; i+9 < len(data); {
		if data[i] != 0xff {
			return 0, 0
		}
		marker := data[i+1]
		switch {
		case marker == 0xff:
			i++
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return int(binary.BigEndian.Uint16(data[i+7:])), int(binary.BigEndian.Uint16(data[i+5:]))
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd8:
			i += 2
			continue
		}
		i += 2 + int(binary.BigEndian.Uint16(data[i+2:]))
	}
	return 0, 0
}
