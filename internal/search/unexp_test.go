package search

import (
	"reflect"
	"unsafe"
)

func setUnexported(v reflect.Value, x float64) {
	*(*float64)(unsafe.Pointer(v.UnsafeAddr())) = x
}
