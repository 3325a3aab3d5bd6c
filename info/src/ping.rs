// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `rdmacm-info serve` echoes, `rdmacm-info ping ADDRESS` measures: over rsockets on a port, over ids and
//! queue pairs on the next one.
//!
//! # Safety
//! Calls of librdmacm on live sockets and ids; memory is registered until its queue pair has gone.
#![allow(unsafe_code)]

use crate::address::{RawAddress, resolve};
use crate::library::{Helpers, Id, Libraries, check};
use crate::overview::OwnId;
use crate::remedy::{Failure, LARGE_PART, at};
use crate::value::{Map, Value};
use rdma_sys::{ibv_mr, ibv_qp_init_attr, ibv_qp_type, ibv_wc, ibv_wc_status};
use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ptr::{null, null_mut};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const SMALL: usize = 64;
const LARGE: usize = 64 * 1024;
/// A message of this length ends a connection of ids.
const END: usize = 1;
const ROUNDS: usize = 1000;
const LARGE_ROUNDS: usize = 200;
const RESOLVE_MS: i32 = 2000;
/// The kernel itself asks a silent peer for more than a minute.
const ANSWER: Duration = Duration::from_secs(10);
const ANSWER_VARIABLE: &str = "RDMACM_SYNC_TIMEOUT_MS";

/// Something that carries messages there and back.
trait Echo {
    fn round(&mut self, length: usize) -> io::Result<()>;
}

/// Rounds of both sizes, as the report has them.
fn measure(connect: Duration, echo: &mut impl Echo) -> Result<Value, Failure> {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        echo.round(SMALL).map_err(at("64 bytes there and back"))?;
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    let begin = Instant::now();
    for _ in 0..LARGE_ROUNDS {
        echo.round(LARGE).map_err(at(LARGE_PART))?;
    }
    let rate = (2 * LARGE * LARGE_ROUNDS) as f64 / begin.elapsed().as_secs_f64() / 1e6;
    let at = |index: usize| times.get(index).copied().map_or(f64::NAN, micros);
    Ok(Map::default()
        .with("connect (us)", micros(connect))
        .with("round trip of 64 bytes, median (us)", at(ROUNDS / 2))
        .with("shortest (us)", at(0))
        .with("longest (us)", at(ROUNDS - 1))
        .with("64 KiB there and back (MB/s)", rate)
        .into())
}

struct Rsocket<'a> {
    fd: i32,
    libraries: &'a Libraries,
    buffer: Vec<u8>,
}

impl<'a> Rsocket<'a> {
    fn new(libraries: &'a Libraries, address: SocketAddr) -> io::Result<Rsocket<'a>> {
        let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        // SAFETY: no pointers.
        let fd = unsafe { (libraries.manager.rsocket)(family, libc::SOCK_STREAM, 0) };
        Rsocket::of(fd, libraries)
    }

    fn of(fd: i32, libraries: &'a Libraries) -> io::Result<Rsocket<'a>> {
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Rsocket { fd, libraries, buffer: vec![0; LARGE] })
    }

    fn set<T>(&self, level: i32, name: i32, value: &T) -> io::Result<()> {
        let (start, size) = (std::ptr::from_ref(value).cast(), size_of::<T>() as libc::socklen_t);
        // SAFETY: a live value of that length.
        check(unsafe { (self.libraries.manager.rsetsockopt)(self.fd, level, name, start, size) })
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let start = rest.as_ptr().cast::<c_void>();
            // SAFETY: live bytes.
            let sent = unsafe { (self.libraries.manager.rsend)(self.fd, start, rest.len(), 0) };
            let sent = usize::try_from(sent).map_err(|_| io::Error::last_os_error())?;
            rest = rest.get(sent..).unwrap_or_default();
        }
        Ok(())
    }

    /// How many bytes came; 0 at the end.
    fn receive(&mut self, most: usize) -> io::Result<usize> {
        let room = self.buffer.get_mut(..most).unwrap_or_default();
        let start = room.as_mut_ptr().cast::<c_void>();
        // SAFETY: a live buffer.
        let count = unsafe { (self.libraries.manager.rrecv)(self.fd, start, room.len(), 0) };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }

    /// Sends back what comes, until the peer closes.
    fn serve(mut self) -> io::Result<()> {
        loop {
            let count = self.receive(LARGE)?;
            if count == 0 {
                return Ok(());
            }
            self.send(self.buffer.get(..count).unwrap_or_default())?;
        }
    }
}

impl Drop for Rsocket<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, closed once.
        unsafe { (self.libraries.manager.rclose)(self.fd) };
    }
}

impl Echo for Rsocket<'_> {
    fn round(&mut self, length: usize) -> io::Result<()> {
        self.send(self.buffer.get(..length).unwrap_or_default())?;
        let mut left = length;
        while left > 0 {
            match self.receive(left)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => left -= count,
            }
        }
        Ok(())
    }
}

fn connect_rsocket(libraries: &Libraries, address: SocketAddr) -> Result<Value, Failure> {
    let begin = Instant::now();
    let mut socket = Rsocket::new(libraries, address).map_err(at("rsocket"))?;
    let raw = RawAddress::of(address);
    let limit = libc::timeval { tv_sec: ANSWER.as_secs() as libc::time_t, tv_usec: 0 };
    // Without the limit it takes longer.
    let _ = socket.set(libc::SOL_SOCKET, libc::SO_SNDTIMEO, &limit);
    // SAFETY: a live address of that length.
    check(unsafe { (libraries.manager.rconnect)(socket.fd, raw.as_ptr(), raw.length()) })
        .map_err(|error| match error.raw_os_error() {
            Some(libc::EINPROGRESS) => io::Error::from_raw_os_error(libc::ETIMEDOUT),
            _ => error,
        })
        .map_err(at("rconnect"))?;
    measure(begin.elapsed(), &mut socket)
}

/// A connected id with registered memory: as many receive buffers as stand here, and one to send from.
struct Connection<'a> {
    own: OwnId<'a>,
    helpers: Helpers,
    region: *mut ibv_mr,
    memory: Box<[u8]>,
}

const RECEIVES: usize = 2;

impl<'a> Connection<'a> {
    /// Makes the queue pair and posts the receives.
    fn prepare(
        own: OwnId<'a>,
        libraries: &Libraries,
        helpers: Helpers,
    ) -> io::Result<Connection<'a>> {
        // SAFETY: pointers and integers: valid when zero.
        let mut attr: ibv_qp_init_attr = unsafe { MaybeUninit::zeroed().assume_init() };
        attr.qp_type = ibv_qp_type::IBV_QPT_RC;
        attr.sq_sig_all = 1;
        attr.cap.max_send_wr = 2;
        attr.cap.max_recv_wr = RECEIVES as u32;
        attr.cap.max_send_sge = 1;
        attr.cap.max_recv_sge = 1;
        // SAFETY: a live id.
        check(unsafe { (libraries.manager.create_qp)(own.id, null_mut(), &raw mut attr) })?;
        let mut memory = vec![0; (RECEIVES + 1) * LARGE].into_boxed_slice();
        // SAFETY: the memory stays until the region is gone.
        let region =
            unsafe { (helpers.register)(own.id, memory.as_mut_ptr().cast(), memory.len()) };
        if region.is_null() {
            return Err(io::Error::last_os_error());
        }
        let mut connection = Connection { own, helpers, region, memory };
        for slot in 0..RECEIVES {
            connection.post_receive(slot)?;
        }
        Ok(connection)
    }

    fn at(&mut self, slot: usize) -> *mut c_void {
        // SAFETY: a slot of the memory.
        unsafe { self.memory.as_mut_ptr().add(slot.min(RECEIVES) * LARGE).cast() }
    }

    fn post_receive(&mut self, slot: usize) -> io::Result<()> {
        let start = self.at(slot);
        let context = slot as *mut c_void;
        // SAFETY: registered memory.
        check(unsafe {
            (self.helpers.post_receive)(self.own.id, context, start, LARGE, self.region)
        })
    }

    fn send(&mut self, slot: usize, length: usize) -> io::Result<()> {
        let start = self.at(slot);
        // SAFETY: registered memory, left alone until the completion.
        check(unsafe {
            (self.helpers.post_send)(self.own.id, null_mut(), start, length, self.region, 0)
        })?;
        completion(self.own.id, self.helpers.send_completion).map(|_| ())
    }

    /// Slot and length of the next message.
    fn receive(&mut self) -> io::Result<(usize, usize)> {
        let done = completion(self.own.id, self.helpers.receive_completion)?;
        Ok((done.wr_id as usize, done.byte_len as usize))
    }

    fn serve(&mut self) -> io::Result<()> {
        loop {
            let (slot, length) = self.receive()?;
            if length == END {
                return Ok(());
            }
            self.send(slot, length)?;
            self.post_receive(slot)?;
        }
    }
}

fn completion(
    id: *mut Id,
    next: unsafe extern "C" fn(*mut Id, *mut ibv_wc) -> i32,
) -> io::Result<ibv_wc> {
    // SAFETY: integers: valid when zero.
    let mut done: ibv_wc = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: a live id with its queues, and a live struct.
    if unsafe { next(id, &raw mut done) } < 1 {
        return Err(io::Error::last_os_error());
    }
    if done.status == ibv_wc_status::IBV_WC_SUCCESS {
        return Ok(done);
    }
    let status = done.status;
    Err(io::Error::other(format!("a work request failed with status {status} (ibv_wc_status)")))
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        // SAFETY: ours. The id, and with it the queue pair, goes after this.
        unsafe { (self.helpers.deregister)(self.region) };
    }
}

impl Echo for Connection<'_> {
    fn round(&mut self, length: usize) -> io::Result<()> {
        self.send(RECEIVES, length)?;
        let (slot, got) = self.receive()?;
        self.post_receive(slot)?;
        if got == length { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }
}

fn connect_id(libraries: &Libraries, address: SocketAddr) -> Result<Value, Failure> {
    let helpers = libraries.helpers.ok_or_else(|| Failure {
        call: "rdma_reg_msgs",
        error: io::Error::other("the C library does not export the helpers of rdma_verbs.h"),
    })?;
    let begin = Instant::now();
    let own = OwnId::new(libraries).map_err(at("rdma_create_id"))?;
    let (id, raw, manager) = (own.id, RawAddress::of(address), libraries.manager);
    // SAFETY: a live id and address.
    check(unsafe { (manager.resolve_address)(id, null(), raw.as_ptr(), RESOLVE_MS) })
        .map_err(at("rdma_resolve_addr"))?;
    // SAFETY: a live id.
    check(unsafe { (manager.resolve_route)(id, RESOLVE_MS) }).map_err(at("rdma_resolve_route"))?;
    let mut connection = Connection::prepare(own, libraries, helpers)
        .map_err(at("a queue pair and memory for it"))?;
    // SAFETY: a live id with its queue pair.
    check(unsafe { (manager.connect)(id, null()) }).map_err(at("rdma_connect"))?;
    let measured = measure(begin.elapsed(), &mut connection);
    let measured = measured
        .and_then(|value| connection.send(RECEIVES, END).map(|()| value).map_err(at("the end")));
    // SAFETY: a live id.
    unsafe { (manager.disconnect)(id) };
    measured
}

/// The report, and whether both ways work.
pub(crate) fn ping(libraries: &Libraries, text: &str, port: u16) -> (Value, bool) {
    let address = match resolve(text, port) {
        Ok(address) => address,
        Err(problem) => {
            let remedy = format!("`getent ahosts {text}` asks the resolver for the name");
            let map = Map::default().with("failed", problem).with("remedy", remedy);
            return (map.into(), false);
        }
    };
    if std::env::var_os(ANSWER_VARIABLE).is_none() {
        // SAFETY: the program has one thread so far.
        unsafe { std::env::set_var(ANSWER_VARIABLE, ANSWER.as_millis().to_string()) };
    }
    let next = SocketAddr::new(address.ip(), port.wrapping_add(1));
    let sockets = connect_rsocket(libraries, address);
    let ids = connect_id(libraries, next);
    let is_fine = sockets.is_ok() && ids.is_ok();
    let shown = |result: Result<Value, Failure>, to| {
        result.unwrap_or_else(|failure| failure.value(libraries, to))
    };
    let map = Map::default().with("to", address.ip().to_string());
    (map.with("rsockets", shown(sockets, address)).with("ids", shown(ids, next)).into(), is_fine)
}

/// Echoes for ever, on the addresses of all devices or on one.
pub(crate) fn serve(
    libraries: &'static Libraries,
    place: Option<&str>,
    port: u16,
) -> Result<(), String> {
    let listening = match place {
        Some(text) => listen(libraries, resolve(text, port)?)?,
        None => {
            let own = listen(libraries, SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port))?;
            // Apart: devices of iWARP have no listener of both families. The machine may be without IPv6.
            let both = listen(libraries, SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port));
            if let Err(problem) = both {
                eprintln!("rdmacm-info: IPv4 alone: {problem}");
            }
            own
        }
    };
    // The threads end with the program.
    listening.join().map_err(|_| "a thread has ended".to_owned())
}

/// Threads that echo there.
fn listen(libraries: &'static Libraries, address: SocketAddr) -> Result<JoinHandle<()>, String> {
    let next = SocketAddr::new(address.ip(), address.port().wrapping_add(1));
    let listener =
        listen_rsocket(libraries, address).map_err(|failure| failure.at_start(address))?;
    if let Some(helpers) = libraries.helpers {
        let own = listen_id(libraries, next).map_err(|failure| failure.at_start(next))?;
        let id = own.id as usize;
        // It stays until the program ends.
        std::mem::forget(own);
        std::thread::spawn(move || accept_ids(libraries, helpers, id as *mut Id));
        println!("echoing on {address} (rsockets) and {next} (ids)");
    } else {
        println!("echoing on {address} (rsockets; with the C library there are no ids)");
    }
    Ok(std::thread::spawn(move || accept_rsockets(libraries, &listener)))
}

fn accept_rsockets(libraries: &'static Libraries, listener: &Rsocket) {
    loop {
        // SAFETY: a live listener; no address is wanted.
        let fd = unsafe { (libraries.manager.raccept)(listener.fd, null_mut(), null_mut()) };
        match Rsocket::of(fd, libraries) {
            Ok(socket) => drop(std::thread::spawn(move || report(socket.serve()))),
            Err(error) => report(Err(error)),
        }
    }
}

fn report(ended: io::Result<()>) {
    if let Err(error) = ended {
        eprintln!("rdmacm-info: {error}");
        // An error that stays must not fill the log.
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn listen_rsocket(libraries: &Libraries, address: SocketAddr) -> Result<Rsocket<'_>, Failure> {
    let socket = Rsocket::new(libraries, address).map_err(at("rsocket"))?;
    if address.is_ipv6() {
        socket.set(libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, &1_i32).map_err(at("rsetsockopt"))?;
    }
    let raw = RawAddress::of(address);
    // SAFETY: a live address of that length.
    check(unsafe { (libraries.manager.rbind)(socket.fd, raw.as_ptr(), raw.length()) })
        .map_err(at("rbind"))?;
    // SAFETY: no pointers.
    check(unsafe { (libraries.manager.rlisten)(socket.fd, 128) }).map_err(at("rlisten"))?;
    Ok(socket)
}

fn listen_id(libraries: &Libraries, address: SocketAddr) -> Result<OwnId<'_>, Failure> {
    let own = OwnId::new(libraries).map_err(at("rdma_create_id"))?;
    own.bind(address).map_err(at("rdma_bind_addr"))?;
    // SAFETY: a live id.
    check(unsafe { (libraries.manager.listen)(own.id, 128) }).map_err(at("rdma_listen"))?;
    Ok(own)
}

fn accept_ids(libraries: &'static Libraries, helpers: Helpers, listener: *mut Id) {
    loop {
        let mut id = null_mut();
        // SAFETY: a live listener, and a place for the id.
        if unsafe { (libraries.manager.get_request)(listener, &raw mut id) } != 0 {
            report(Err(io::Error::last_os_error()));
            continue;
        }
        let id = id as usize;
        std::thread::spawn(move || {
            let own = OwnId::of(id as *mut Id, libraries);
            let raw = own.id;
            report(Connection::prepare(own, libraries, helpers).and_then(|mut connection| {
                // SAFETY: a live id with its queue pair.
                check(unsafe { (libraries.manager.accept)(raw, null()) })?;
                let ended = connection.serve();
                // SAFETY: as above. The client has disconnected, or does so now.
                unsafe { (libraries.manager.disconnect)(raw) };
                ended
            }));
        });
    }
}
