// The client of connect.py from D, which reads no C header: the library's symbols, by declarations made here.
//
//   connect ADDRESS PORT
import core.stdc.errno : errno;
import core.stdc.stdlib : calloc, exit;
import core.stdc.string : strerror, strncmp;
import std.stdio : stderr, writeln;
import std.string : fromStringz, toStringz;

struct AddrInfo
{
    int flags, family, qp_type, port_space;
    uint src_len, dst_len;
    void* src, dst;
    char* src_name, dst_name;
    size_t route_len;
    void* route;
    size_t connect_len;
    void* connect;
    AddrInfo* next;
}

struct QpInit
{
    void* context, send_cq, recv_cq, srq;
    uint max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
    int qp_type, sq_sig_all;
}

struct Region
{
    void* context, pd, addr;
    size_t length;
    uint handle, lkey, rkey;
}

struct Piece
{
    ulong addr;
    uint length, lkey;
}

struct Completion
{
    ulong wr_id;
    int status, opcode;
    ubyte[64] rest;
}

struct Offer
{
    ulong address;
    uint key, size;
}

struct Id;

extern (C) nothrow @nogc
{
    int rdma_getaddrinfo(const char* node, const char* service, const AddrInfo* hints, AddrInfo** res);
    void rdma_freeaddrinfo(AddrInfo* res);
    int rdma_create_ep(Id** id, AddrInfo* res, void* pd, QpInit* attributes);
    void rdma_destroy_ep(Id* id);
    int rdma_connect(Id* id, void* parameters);
    int rdma_disconnect(Id* id);
    Region* rdma_reg_msgs(Id* id, void* addr, size_t length);
    int rdma_dereg_mr(Region* region);
    int rdma_post_recvv(Id* id, void* context, Piece* list, int count);
    int rdma_post_readv(Id* id, void* context, Piece* list, int count, int flags, ulong address, uint key);
    int rdma_post_send(Id* id, void* context, void* addr, size_t length, Region* region, int flags);
    int rdma_get_send_comp(Id* id, Completion* wc);
    int rdma_get_recv_comp(Id* id, Completion* wc);
    ushort* rdma_get_peer_addr(Id* id);
}

enum RDMA_PS_TCP = 0x106, IBV_QPT_RC = 2, IBV_SEND_SIGNALED = 2, AF_INET = 2;

void must(string what, bool right)
{
    if (right)
        return;
    stderr.writeln(what, ": ", fromStringz(strerror(errno)));
    exit(1);
}

Piece[2] pieces(void* memory, Region* region, uint first, uint size)
{
    return [Piece(cast(ulong) memory, first, region.lkey), Piece(cast(ulong) memory + first, size - first, region.lkey)];
}

void complete(string what, int result, ref Completion wc, ulong number)
{
    must(what, result == 1 && wc.status == 0 && wc.wr_id == number);
}

void main(string[] words)
{
    AddrInfo hints;
    AddrInfo* found;
    hints.port_space = RDMA_PS_TCP;
    must("rdma_getaddrinfo", !rdma_getaddrinfo(words[1].toStringz, words[2].toStringz, &hints, &found));
    QpInit attributes;
    attributes.max_send_wr = attributes.max_recv_wr = 4;
    attributes.max_send_sge = attributes.max_recv_sge = 2;
    attributes.qp_type = IBV_QPT_RC;
    Id* id;
    must("rdma_create_ep", !rdma_create_ep(&id, found, null, &attributes));
    rdma_freeaddrinfo(found);

    // C memory: nobody moves it.
    auto told = cast(Offer*) calloc(1, Offer.sizeof);
    auto read = cast(char*) calloc(1, 64);
    auto told_region = rdma_reg_msgs(id, told, Offer.sizeof), read_region = rdma_reg_msgs(id, read, 64);
    must("rdma_reg_msgs", told_region && read_region);
    auto list = pieces(told, told_region, 4, Offer.sizeof);
    must("rdma_post_recvv", !rdma_post_recvv(id, cast(void*) 3, list.ptr, 2));
    must("rdma_connect", !rdma_connect(id, null));
    must("rdma_get_peer_addr", *rdma_get_peer_addr(id) == AF_INET);
    Completion wc;
    complete("rdma_get_recv_comp", rdma_get_recv_comp(id, &wc), wc, 3);

    list = pieces(read, read_region, 10, told.size);
    must("rdma_post_readv",
        !rdma_post_readv(id, cast(void*) 4, list.ptr, 2, IBV_SEND_SIGNALED, told.address, told.key));
    complete("rdma_get_send_comp", rdma_get_send_comp(id, &wc), wc, 4);
    must("the peer's memory", strncmp(read, "memory that", 11) == 0);

    read[0 .. 7] = "thanks\0";
    must("rdma_post_send", !rdma_post_send(id, cast(void*) 5, read, 16, read_region, IBV_SEND_SIGNALED));
    complete("rdma_get_send_comp", rdma_get_send_comp(id, &wc), wc, 5);
    must("rdma_disconnect", !rdma_disconnect(id));
    must("rdma_dereg_mr", !rdma_dereg_mr(told_region) && !rdma_dereg_mr(read_region));
    rdma_destroy_ep(id);
    writeln("d: connected, read, sent, disconnected");
}
