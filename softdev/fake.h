/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the parts of the soft device tell each other. */
#ifndef FK_FAKE_H
#define FK_FAKE_H

#include "kernel.h"
#include "rdmafake.h"

#include <rdma/rdma_user_cm.h>

/* Newer than the installed <rdma/rdma_user_cm.h>. */
enum {
	FK_CMD_RESOLVE_IB_SERVICE = 23,
	FK_CMD_WRITE_CM_EVENT = 24,
	FK_CMD_LAST = 24,
	FK_QUERY_IB_SERVICE = 3,
};

enum {
	FK_EV_ADDR_RESOLVED, FK_EV_ADDR_ERROR, FK_EV_ROUTE_RESOLVED, FK_EV_ROUTE_ERROR,
	FK_EV_CONNECT_REQUEST, FK_EV_CONNECT_RESPONSE, FK_EV_CONNECT_ERROR,
	FK_EV_UNREACHABLE, FK_EV_REJECTED, FK_EV_ESTABLISHED, FK_EV_DISCONNECTED,
	FK_EV_DEVICE_REMOVAL, FK_EV_MULTICAST_JOIN, FK_EV_MULTICAST_ERROR,
	FK_EV_ADDR_CHANGE, FK_EV_TIMEWAIT_EXIT, FK_EV_ADDRINFO_RESOLVED,
	FK_EV_ADDRINFO_ERROR, FK_EV_USER, FK_EV_INTERNAL,
};

enum { FK_QPT_RC = 2, FK_QPT_UC = 3, FK_QPT_UD = 4, FK_QPT_XRC_SEND = 9, FK_QPT_XRC_RECV = 10 };
enum { FK_TRANSPORT_IB = 0, FK_TRANSPORT_IWARP = 1, FK_TRANSPORT_USNIC = 3 };
enum { FK_LINK_IB = 1, FK_LINK_ETH = 2 };

#define fk_idp(i) (&fk_k->id.at[i])
#define fk_chanp(i) (&fk_k->chan.at[i])
#define fk_devp(i) (&fk_k->dev.at[i])
#define fk_eventp(i) (&fk_k->event.at[i])
#define fk_mcp(i) (&fk_k->mc.at[i])

/* What the script decided for one command or verbs call. */
struct fk_plan {
	int err;
	int err_after;
	int has_size, size_rel, size, skip;
	int hold, hold_after;
	char label[32], label_after[32];
	int npatch;
	struct { uint32_t off, len; uint8_t bytes[32]; } patch[4];
	int ninject;
	struct rdmafake_event inject[4];
	int inject_self[4];
};

struct fk_call {
	int fd;
	int errno_before;
	uint32_t chan;
	uint32_t cmd;
	uint16_t in_len, out_len;
	const uint8_t *in;
	size_t in_avail;
	struct fk_plan plan;
	uint8_t answer[FK_RESP_MAX];
	size_t answer_len;
};

/* script.c, rules.c */
int fk_script_text(const char *text);
void fk_script_env(bool first);
int fk_device_from_words(char **word, int n);
void fk_default_devices(void);
int fk_cmd_by_name(const char *name);
const char *fk_cmd_name(uint32_t cmd);
int fk_event_by_name(const char *name);
const char *fk_event_name(uint32_t event);
int fk_errno_by_name(const char *name);
int fk_rule_add(char **word, int n);
void fk_rules_clear(void);
void fk_rules_fork(int step);
bool fk_rules_any(void);
void fk_plan_command(uint32_t cmd, uint32_t handle, struct fk_plan *plan);
int fk_plan_verb(const char *verb, const char *dev);
int fk_plan_event(uint32_t event);
int fk_plan_path(const char *what);
void fk_hold_wait(const char *label);
int fk_hold_release(const char *label);
int fk_hold_held(const char *label, int timeout_ms);
uint64_t fk_count_cmd(int cmd);
uint64_t fk_count_verb(const char *verb);

/* log.c */
void fk_log_start(const char *path);
void fk_log_command(const struct fk_call *c, ssize_t ret, int err);
void fk_log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void fk_log_fork(int step);
bool fk_log_on(void);
void fk_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* start.c: 0 or an errno. */
int fk_start(void);

/* fdtab.c */
/* Descriptors beyond are not looked up. */
enum { FK_FD_MAX = 1 << 18 };
enum { FK_FD_NONE, FK_FD_CHAN, FK_FD_NETLINK };
uint32_t fk_fd_kind(int fd, uint32_t *idx);
void fk_fd_set(int fd, uint32_t kind, uint32_t idx);
bool fk_fd_fits(int fd);
void fk_fd_closing(int fd);
void fk_fd_copied(int from, int to);
int fk_chan_fd(uint32_t chan);
/* One unit of an eventfd, if there is one. */
void fk_take_signal(int fd);
void fk_fds_lend(void);
void fk_fds_claim(void);
void fk_fds_lent_to(pid_t child);

/* chan.c: with the kernel locked, but for open and close */
int fk_chan_open(int flags);
void fk_chan_close(uint32_t chan);
void fk_chan_add(uint32_t chan, int n);
void fk_chan_hold(uint32_t chan, pid_t pid, int n);
uint32_t fk_chan_held(uint32_t chan, pid_t pid);
void fk_chan_lend(uint32_t chan, unsigned ms);
void fk_chan_borrow(uint32_t chan, pid_t child);
bool fk_chan_dead(uint32_t chan);
bool fk_chan_end_step(uint32_t chan);

/* proc.c */
void fk_proc_enter(bool forked);
void fk_proc_forked(pid_t child);
void fk_proc_leave(void);
/* Another thread of this process has begun to leave. */
bool fk_proc_left(void);
/* Any process that is alive, in a kernel that was found. */
bool fk_proc_any(void);
/* Ends what dead processes have left; gives their number. */
int fk_procs_reap(void);
bool fk_pid_gone(pid_t pid);
/* As ps shows it: 'R', 'T', 'Z'; 0 for what is not there. */
char fk_thread_state(pid_t tid);
bool fk_my_pid_is(pid_t pid);
pid_t fk_pid(void);
/* More processes than this may use the kernel. */
bool fk_shared(void);
/* What this process's helper sleeps on, or NULL. */
uint32_t *fk_proc_word(void);
void fk_wake_all(void);
void fk_wake_process(pid_t pid);

ssize_t fk_command(int fd, uint32_t chan, const void *buf, size_t len);

/* hook_cred.c: how often this process has changed its credentials. */
uint32_t fk_credentials(void);

/* pathmap.c */
enum { FK_PATH_ROOM = 4096 };
const char *fk_map_path(const char *path, char *room, size_t size);

/* netlink.c */
int fk_netlink_socket(int type);

/* cmd_*.c: each returns 0 or -errno, called with the kernel locked */
/* -FK_OWNER_GONE: nothing was done, and may succeed when the dead are reaped. */
enum { FK_OWNER_GONE = 4096 };
uint32_t fk_find(const struct fk_call *c, uint32_t handle, int *err);
uint32_t fk_find_dev(const struct fk_call *c, uint32_t handle, int *err);
void fk_request(const struct fk_call *c, void *to, size_t size);
int fk_respond(struct fk_call *c, uint64_t to, const void *data, size_t size);
int fk_cmd_create(struct fk_call *c);
int fk_cmd_destroy(struct fk_call *c);
int fk_cmd_migrate(struct fk_call *c);
int fk_cmd_notify(struct fk_call *c);
int fk_cmd_set_option(struct fk_call *c);
int fk_cmd_bind(struct fk_call *c);
int fk_cmd_bind_ip(struct fk_call *c);
int fk_cmd_resolve_ip(struct fk_call *c);
int fk_cmd_resolve_addr(struct fk_call *c);
int fk_cmd_resolve_route(struct fk_call *c);
int fk_cmd_resolve_service(struct fk_call *c);
int fk_cmd_query_route(struct fk_call *c);
int fk_cmd_query(struct fk_call *c);
int fk_cmd_connect(struct fk_call *c);
int fk_cmd_listen(struct fk_call *c);
int fk_cmd_accept(struct fk_call *c);
int fk_cmd_reject(struct fk_call *c);
int fk_cmd_disconnect(struct fk_call *c);
int fk_cmd_init_qp_attr(struct fk_call *c);
int fk_cmd_get_event(struct fk_call *c);
int fk_cmd_write_event(struct fk_call *c);
int fk_cmd_join_ip(struct fk_call *c);
int fk_cmd_join(struct fk_call *c);
int fk_cmd_leave(struct fk_call *c);

/* id.c: what happens to ids */
uint32_t fk_id_new(uint32_t chan);
uint32_t fk_id_destroy(uint32_t id);
uint32_t fk_id_by_handle(uint32_t handle);
void fk_id_detach(uint32_t id);
void fk_id_link(uint32_t id, uint32_t chan);
void fk_id_unlink(uint32_t id);
void fk_cm_drop_peer(uint32_t id);
bool fk_is_ud(const struct fk_id *id);
bool fk_is_iwarp(const struct fk_id *id);
uint32_t fk_peer(const struct fk_id *id);

/* event.c */
struct rdma_ucm_event_resp;
uint32_t fk_event_new(uint32_t id, uint32_t type, int status);
struct rdma_ucm_event_resp *fk_event_resp(uint32_t ev);
void fk_event_post(uint32_t chan, uint32_t ev);
void fk_event_simple(uint32_t id, uint32_t type, int status);
void fk_event_pdata(uint32_t ev, const void *data, size_t len, size_t wire);
void fk_event_conn(uint32_t ev, const struct fk_conn *from);
void fk_events_purge(uint32_t id, uint32_t mc);
void fk_events_move(uint32_t id, uint32_t to);
void fk_wake_add(uint32_t chan, int fd);
bool fk_events_end_step(pid_t pid);
int fk_get_event(struct fk_call *c);

/* addr.c, port.c, device.c */
size_t fk_sa_size(const struct sockaddr_storage *a);
bool fk_sa_any(const struct sockaddr_storage *a);
bool fk_sa_zero(const struct sockaddr_storage *a);
bool fk_sa_multicast(const struct sockaddr_storage *a);
bool fk_sa_loop(const struct sockaddr_storage *a);
bool fk_sa_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
uint16_t fk_sa_port(const struct sockaddr_storage *a);
void fk_sa_set_port(struct sockaddr_storage *a, uint16_t port);
int fk_sa_parse(const char *text, struct sockaddr_storage *a, uint32_t *prefix);
uint64_t fk_service_id(const struct fk_id *id, const struct sockaddr_storage *a);
uint16_t fk_port_space(const struct fk_id *id);
int fk_port_get(uint32_t id);
int fk_port_check(uint32_t id, bool reuse);
void fk_port_put(uint32_t id);
uint32_t fk_port_listener(uint32_t from, const struct sockaddr_storage *dst, uint32_t dev);
uint32_t fk_dev_by_name(const char *name);
uint32_t fk_dev_of_ip(const struct sockaddr_storage *a);
uint32_t fk_dev_route(const struct sockaddr_storage *dst, struct sockaddr_storage *src);
uint32_t fk_dev_of_gid(const uint8_t *gid, uint32_t *port, uint32_t *index);
bool fk_is_peer(const struct sockaddr_storage *a);
int fk_dev_remove(const char *name);
int fk_dev_return(const char *name);
bool fk_gid_multicast(const uint8_t *gid);
void fk_gid_of_ip(const struct sockaddr_storage *a, uint8_t *gid);
void fk_dev_defaults(struct fk_dev *d, uint32_t n);
void fk_dev_finish(struct fk_dev *d);
void fk_id_attach(uint32_t id, uint32_t dev);
bool fk_roce(const struct fk_dev *d, uint32_t port);

/* verbs side */
size_t fk_verbs_size(void);
/* true: as RDMAFAKE_HEAP says. */
bool fk_heap_size(size_t *heap);
void fk_verbs_locks_init(struct fk_kernel *k, pthread_mutexattr_t *a);
bool fk_verbs_end_step(pid_t pid);
void fk_verbs_pay_wakes(void);
void fk_verbs_iwarp_connected(uint32_t qpn, uint32_t peer_qpn, bool up);
void fk_verbs_dev_removed(uint32_t dev);
void fk_verbs_live(struct rdmafake_live *live);
int fk_verbs_async(const char *dev, int type, int port);

/* helper.c */
void fk_helper_want(void);
void fk_helper_fork(void);
void fk_timer(unsigned ms, void (*fn)(uint64_t), uint64_t arg);
uint64_t fk_now_ms(void);
void fk_futex_wait(uint32_t *word, uint32_t seen, unsigned ms);
/* Changes the word, so that no sleeper misses it. */
void fk_futex_wake(uint32_t *word);

#endif
