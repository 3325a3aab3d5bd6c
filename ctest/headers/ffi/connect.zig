// The client of connect.py from Zig, with what `zig translate-c` makes of the C header (c.zig): its inline
// functions, or with RDMACM_EXPORTED_HELPERS the library's symbols.
//
//   connect ADDRESS PORT
const std = @import("std");

const c = @import("c.zig");

// Of the C library, whatever the standard library of this Zig looks like.
extern fn puts(text: [*:0]const u8) c_int;
extern fn perror(text: [*:0]const u8) void;
extern fn strncmp(one: [*]const u8, other: [*:0]const u8, length: usize) c_int;
extern fn exit(code: c_int) noreturn;

const Offer = extern struct { address: u64, key: u32, size: u32 };

fn must(what: [*:0]const u8, right: bool) void {
    if (right) return;
    perror(what);
    exit(1);
}

fn pieces(memory: *anyopaque, region: *c.struct_ibv_mr, first: u32, size: u32) [2]c.struct_ibv_sge {
    const at = @intFromPtr(memory);
    return .{
        .{ .addr = at, .length = first, .lkey = region.lkey },
        .{ .addr = at + first, .length = size - first, .lkey = region.lkey },
    };
}

fn complete(what: [*:0]const u8, result: c_int, wc: *const c.struct_ibv_wc, number: u64) void {
    must(what, result == 1 and wc.status == c.IBV_WC_SUCCESS and wc.wr_id == number);
}

fn context(number: usize) ?*anyopaque {
    return @ptrFromInt(number);
}

var told: Offer = .{ .address = 0, .key = 0, .size = 0 };
var read: [64]u8 = @splat(0);

pub export fn main(_: c_int, words: [*][*:0]u8) c_int {
    var hints: c.struct_rdma_addrinfo = std.mem.zeroes(c.struct_rdma_addrinfo);
    hints.ai_port_space = c.RDMA_PS_TCP;
    var found: ?*c.struct_rdma_addrinfo = null;
    must("rdma_getaddrinfo", c.rdma_getaddrinfo(words[1], words[2], &hints, @ptrCast(&found)) == 0);
    var attributes: c.struct_ibv_qp_init_attr = std.mem.zeroes(c.struct_ibv_qp_init_attr);
    attributes.cap.max_send_wr = 4;
    attributes.cap.max_recv_wr = 4;
    attributes.cap.max_send_sge = 2;
    attributes.cap.max_recv_sge = 2;
    attributes.qp_type = c.IBV_QPT_RC;
    var made: ?*c.struct_rdma_cm_id = null;
    must("rdma_create_ep", c.rdma_create_ep(@ptrCast(&made), found, null, &attributes) == 0);
    c.rdma_freeaddrinfo(found);
    const id = made.?;

    const told_region: *c.struct_ibv_mr = c.rdma_reg_msgs(id, &told, @sizeOf(Offer));
    const read_region: *c.struct_ibv_mr = c.rdma_reg_msgs(id, &read, read.len);
    var list = pieces(&told, told_region, 4, @sizeOf(Offer));
    must("rdma_post_recvv", c.rdma_post_recvv(id, context(3), &list, 2) == 0);
    must("rdma_connect", c.rdma_connect(id, null) == 0);
    const peer: *c.struct_sockaddr = c.rdma_get_peer_addr(id);
    must("rdma_get_peer_addr", peer.sa_family == c.AF_INET);
    var wc: c.struct_ibv_wc = undefined;
    complete("rdma_get_recv_comp", c.rdma_get_recv_comp(id, &wc), &wc, 3);

    list = pieces(&read, read_region, 10, told.size);
    must("rdma_post_readv", c.rdma_post_readv(id, context(4), &list, 2, c.IBV_SEND_SIGNALED, told.address, told.key) == 0);
    complete("rdma_get_send_comp", c.rdma_get_send_comp(id, &wc), &wc, 4);
    must("the peer's memory", strncmp(&read, "memory that", 11) == 0);

    read[0..7].* = "thanks\x00".*;
    must("rdma_post_send", c.rdma_post_send(id, context(5), &read, 16, read_region, c.IBV_SEND_SIGNALED) == 0);
    complete("rdma_get_send_comp", c.rdma_get_send_comp(id, &wc), &wc, 5);
    must("rdma_disconnect", c.rdma_disconnect(id) == 0);
    must("rdma_dereg_mr", c.rdma_dereg_mr(told_region) == 0 and c.rdma_dereg_mr(read_region) == 0);
    c.rdma_destroy_ep(id);
    return @intFromBool(puts("zig: connected, read, sent, disconnected") < 0);
}
