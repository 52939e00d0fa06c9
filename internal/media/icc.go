package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
)

const (
	iccHeader  = "ICC_PROFILE\x00"
	maxProfile = 1 << 20 // bytes
	iccPart    = 65000   // bytes of a profile in one part of a JPEG
)

// profile returns an image's colour profile when it speaks of red, green and blue,
// which is what images made again consist of; nil otherwise.
func profile(mime string, b []byte) []byte {
	var icc []byte
	switch mime {
	case JPEG:
		segments(b, func(marker byte, whole []byte) {
			if part, ok := bytes.CutPrefix(whole[min(4, len(whole)):], []byte(iccHeader)); ok && marker == markICC && len(part) > 2 {
				icc = append(icc, part[2:]...)
			}
		})
	case PNG:
		pngChunks(b, func(kind string, whole []byte) {
			_, packed, ok := bytes.Cut(whole[8:len(whole)-4], []byte{0})
			if kind != "iCCP" || !ok || len(packed) < 1 {
				return
			}
			if r, err := zlib.NewReader(bytes.NewReader(packed[1:])); err == nil {
				if icc, err = io.ReadAll(io.LimitReader(r, maxProfile+1)); err != nil {
					icc = nil
				}
			}
		})
	case WebP:
		webpChunks(b, func(kind string, whole []byte) {
			if kind == "ICCP" {
				icc = whole[8:]
			}
		})
	}
	if len(icc) < 128 || len(icc) > maxProfile || string(icc[16:20]) != "RGB " {
		return nil
	}
	return icc
}

// withJPEGProfile puts a colour profile into a JPEG that has none.
func withJPEGProfile(b, icc []byte) []byte {
	if len(icc) == 0 {
		return b
	}
	out := append(make([]byte, 0, len(b)+len(icc)+1024), b[:2]...)
	parts := (len(icc) + iccPart - 1) / iccPart
	for n := range parts {
		part := icc[n*iccPart : min((n+1)*iccPart, len(icc))]
		out = append(out, 0xff, markICC)
		out = binary.BigEndian.AppendUint16(out, uint16(2+len(iccHeader)+2+len(part)))
		out = append(append(append(out, iccHeader...), byte(n+1), byte(parts)), part...)
	}
	return append(out, b[2:]...)
}

// withPNGProfile puts a colour profile into a PNG that has none, after its header.
func withPNGProfile(b, icc []byte) []byte {
	const header = 33
	if len(icc) == 0 || len(b) < header {
		return b
	}
	var packed bytes.Buffer
	packed.WriteString("iCCPicc\x00\x00")
	w := zlib.NewWriter(&packed)
	w.Write(icc)
	w.Close()
	out := append(make([]byte, 0, len(b)+packed.Len()+8), b[:header]...)
	out = binary.BigEndian.AppendUint32(out, uint32(packed.Len()-4))
	out = append(out, packed.Bytes()...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(packed.Bytes()))
	return append(out, b[header:]...)
}
