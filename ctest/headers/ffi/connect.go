// The client of connect.py from Go, by cgo with the C header. Compiled twice: as it is, with the header's
// inline functions, and with RDMACM_EXPORTED_HELPERS, which calls the library's symbols.
//
//	connect ADDRESS PORT
package main

/*
#cgo LDFLAGS: -lrdmacm -libverbs
#include <stdlib.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
*/
import "C"

import (
	"fmt"
	"os"
	"strings"
	"unsafe"
)

// What the peer offers: address, key and size of its memory.
type offer struct {
	address   uint64
	key, size uint32
}

func must(what string, failed bool, err error) {
	if failed {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func endpoint(address, port string) *C.struct_rdma_cm_id {
	var hints C.struct_rdma_addrinfo
	var found *C.struct_rdma_addrinfo
	var id *C.struct_rdma_cm_id
	var attributes C.struct_ibv_qp_init_attr
	hints.ai_port_space = C.RDMA_PS_TCP
	node, service := C.CString(address), C.CString(port)
	defer C.free(unsafe.Pointer(node))
	defer C.free(unsafe.Pointer(service))
	result, err := C.rdma_getaddrinfo(node, service, &hints, &found)
	must("rdma_getaddrinfo", result != 0, err)
	defer C.rdma_freeaddrinfo(found)
	attributes.cap.max_send_wr, attributes.cap.max_recv_wr = 4, 4
	attributes.cap.max_send_sge, attributes.cap.max_recv_sge = 2, 2
	attributes.qp_type = C.IBV_QPT_RC
	result, err = C.rdma_create_ep(&id, found, nil, &attributes)
	must("rdma_create_ep", result != 0, err)
	return id
}

// C memory: the device must find it in its place.
func register(id *C.struct_rdma_cm_id, size C.size_t) (unsafe.Pointer, *C.struct_ibv_mr) {
	memory := C.calloc(1, size)
	region, err := C.rdma_reg_msgs(id, memory, size)
	must("rdma_reg_msgs", region == nil, err)
	return memory, region
}

// A buffer as two pieces, in C memory.
func pieces(memory unsafe.Pointer, region *C.struct_ibv_mr, first, size C.uint32_t) *C.struct_ibv_sge {
	list := (*[2]C.struct_ibv_sge)(C.calloc(2, C.sizeof_struct_ibv_sge))
	list[0] = C.struct_ibv_sge{addr: C.uint64_t(uintptr(memory)), length: first, lkey: region.lkey}
	list[1] = C.struct_ibv_sge{addr: C.uint64_t(uintptr(memory) + uintptr(first)), length: size - first, lkey: region.lkey}
	return &list[0]
}

func completed(wc *C.struct_ibv_wc, result C.int, err error, id uint64) {
	must("completion", result != 1, err)
	must(fmt.Sprintf("completion of %d: %d, status %d", id, wc.wr_id, wc.status),
		wc.status != C.IBV_WC_SUCCESS || uint64(wc.wr_id) != id, nil)
}

func main() {
	var wc C.struct_ibv_wc
	id := endpoint(os.Args[1], os.Args[2])
	told, toldRegion := register(id, 16)
	read, readRegion := register(id, 64)

	list := pieces(told, toldRegion, 4, 16)
	result, err := C.rdma_post_recvv(id, nil, list, 2)
	must("rdma_post_recvv", result != 0, err)
	result, err = C.rdma_connect(id, nil)
	must("rdma_connect", result != 0, err)
	must("rdma_get_peer_addr", C.rdma_get_peer_addr(id).sa_family != C.AF_INET, nil)
	result, err = C.rdma_get_recv_comp(id, &wc)
	completed(&wc, result, err, 0)

	there := (*offer)(told)
	list = pieces(read, readRegion, 10, C.uint32_t(there.size))
	result, err = C.rdma_post_readv(id, nil, list, 2, C.IBV_SEND_SIGNALED, C.uint64_t(there.address), C.uint32_t(there.key))
	must("rdma_post_readv", result != 0, err)
	result, err = C.rdma_get_send_comp(id, &wc)
	completed(&wc, result, err, 0)
	text := C.GoString((*C.char)(read))
	must("not what the peer has: "+text, !strings.HasPrefix(text, "memory that"), nil)

	copy(unsafe.Slice((*byte)(read), 16), "thanks\x00")
	result, err = C.rdma_post_send(id, nil, read, 16, readRegion, C.IBV_SEND_SIGNALED)
	must("rdma_post_send", result != 0, err)
	result, err = C.rdma_get_send_comp(id, &wc)
	completed(&wc, result, err, 0)
	result, err = C.rdma_disconnect(id)
	must("rdma_disconnect", result != 0, err)
	for _, region := range []*C.struct_ibv_mr{toldRegion, readRegion} {
		result, err = C.rdma_dereg_mr(region)
		must("rdma_dereg_mr", result != 0, err)
	}
	C.rdma_destroy_ep(id)
	fmt.Println("go: connected, read, sent, disconnected")
}
