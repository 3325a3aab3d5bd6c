// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Direct writes: memory that the peer may write to (riomap), and writing to the peer's (riowrite).
//!
//! # Safety
//! Registers the caller's memory, which stays mapped until riounmap or rclose by the contract of
//! riomap.
#![allow(unsafe_code)]

use super::iomap_list::Iomap;
use super::state::{Stream, StreamState};
use crate::rsocket::flow::MAX_TRANSFER;
use crate::rsocket::memory::buffers::Buffers;
use crate::rsocket::wire::{IOMAP_ENTRY_SIZE, IomapEntry, Segment};
use crate::verbs::{LOCAL, MemoryRegion, REMOTE_WRITE};
use base::counters::{count, layout};
use base::errno::{Errno, Result};
use base::fail;
use libc::{PROT_WRITE, c_int, c_void};

impl Stream {
    /// Offers memory at an offset, -1 for one of our choice; the offset.
    ///
    /// # Safety
    /// The memory stays mapped until `unmap` or the end of the stream.
    pub(crate) unsafe fn map(
        &self,
        start: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        offset: i64,
    ) -> Result<i64> {
        if start.is_null() || length == 0 || flags != 0 || protection & !PROT_WRITE != 0 {
            return Err(fail!(
                EINVAL,
                "riomap: {length} bytes at {start:?}, protection {protection:#x}, flags {flags:#x}: flags must \
                 be 0, protection PROT_NONE or PROT_WRITE"
            ));
        }
        let length_32 = u32::try_from(length)
            .map_err(|_| fail!(EINVAL, "riomap: {length} bytes are 4 GiB or more"))?;
        self.check()?;
        let address = start as usize;
        let offset = if offset == -1 { address as i64 } else { offset };
        let own_domain = {
            let mut state = self.state.lock();
            if !state.check_connected()? {
                return Err(Errno::EAGAIN);
            }
            let same =
                |map: &&mut Iomap| (map.start, map.length, map.offset) == (address, length, offset);
            if let Some(map) = state.iomaps.maps.iter_mut().find(same) {
                map.users = map.users.checked_add(1).ok_or(Errno::ENOMEM)?;
                return Ok(offset);
            }
            state.link.as_ref().and_then(|link| link.endpoint.own_domain())
        };
        let domain = own_domain.as_ref().map_or_else(|| self.id().domain(), |own| Ok(own.get()))?;
        let access = if protection & PROT_WRITE != 0 { REMOTE_WRITE } else { LOCAL };
        // SAFETY: by contract. Without the lock: registering may sleep.
        let registration = unsafe { MemoryRegion::register(domain, start, length, access) }?;
        let mut state = self.state.lock();
        let mut index = None;
        if access == REMOTE_WRITE {
            let size = state.link.as_ref().map_or(0, |link| link.endpoint.peer_iomap_size());
            let free =
                (0..size).find(|slot| state.iomaps.maps.iter().all(|map| map.index != Some(*slot)));
            index = Some(free.ok_or(Errno::ENOMEM)?);
        }
        let iomaps = &mut state.iomaps;
        iomaps.maps.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        iomaps.unsent.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        if let Some(index) = index {
            let segment = Segment {
                address: address as u64,
                key: registration.remote_key(),
                length: length_32,
            };
            iomaps.unsent.push((index, IomapEntry { offset: offset as u64, segment }));
        }
        iomaps.maps.push(Iomap {
            start: address,
            length,
            offset,
            users: 1,
            index,
            _registration: registration,
            _domain: own_domain,
        });
        // As much as may go now; the rest goes before the next data.
        state.progress();
        state.send_iomaps()?;
        Ok(offset)
    }

    pub(crate) fn unmap(&self, start: *mut c_void, length: usize) -> Result<()> {
        self.check()?;
        let map = {
            let mut state = self.state.lock();
            let at = state.iomaps.maps.iter().position(|map| {
                map.start == start as usize && (map.length == length || length == 0)
            });
            let at = at.ok_or_else(|| {
                fail!(
                    EINVAL,
                    **self.id(),
                    "riounmap: riomap has mapped no {length} bytes at {start:p}"
                )
            })?;
            state.iomaps.unsent.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            let map = &mut state.iomaps.maps[at];
            map.users -= 1;
            if map.users > 0 {
                return Ok(());
            }
            let map = state.iomaps.maps.swap_remove(at);
            if let Some(index) = map.index {
                state.iomaps.unsent.retain(|(other, _)| *other != index);
                state.iomaps.unsent.push((index, IomapEntry::default()));
                state.progress();
                // What cannot be sent now is sent before the next data; the registration ends
                // anyway.
                let _ = state.send_iomaps();
            }
            map
        };
        drop(map);
        Ok(())
    }

    pub(crate) fn write_directly(
        &self,
        buffers: &mut Buffers<'_>,
        offset: i64,
        flags: c_int,
    ) -> Result<usize> {
        let wanted = buffers.left();
        let mut done = 0;
        let blocking = |state: &StreamState| state.blocking(flags, state.options.send_timeout);
        let written = self.wait_for(blocking, &mut |state: &mut StreamState| {
            state.progress();
            match state.check_connected() {
                Ok(true) => {}
                Ok(false) => return Some(Err(Errno::EAGAIN)),
                Err(error) => return Some(Err(error)),
            }
            if let Err(error) = state.check_writable().and_then(|()| state.send_iomaps()) {
                return Some(Err(error));
            }
            while done < wanted {
                match state.write_some(buffers, (offset as u64).wrapping_add(done as u64)) {
                    Ok(0) => return None,
                    Ok(bytes) => done += bytes,
                    Err(error) => return Some(Err(error)),
                }
            }
            Some(Ok(()))
        });
        match written {
            Err(error) if done == 0 => Err(error),
            _ => Ok(done),
        }
    }
}

impl StreamState {
    /// Sends entries to the peer, as far as flow control allows.
    #[inline]
    pub(super) fn send_iomaps(&mut self) -> Result<()> {
        if self.iomaps.unsent.is_empty() { Ok(()) } else { self.send_entries() }
    }

    #[cold]
    fn send_entries(&mut self) -> Result<()> {
        let Some(link) = &mut self.link else { return Ok(()) };
        while let Some((index, entry)) = self.iomaps.unsent.first().copied() {
            if !link.is_alive() {
                break;
            }
            let Some((from, wr_id)) = link.flow.take_iomap(IOMAP_ENTRY_SIZE as u32) else { break };
            self.iomaps.unsent.remove(0);
            if let Err(error) = link.endpoint.post_iomap(from, wr_id, index, &entry) {
                return Err(self.end_with(error));
            }
        }
        Ok(())
    }

    fn write_some(&mut self, buffers: &mut Buffers<'_>, offset: u64) -> Result<usize> {
        let Some(link) = &mut self.link else { return Err(Errno::ENOTCONN) };
        link.make_room_for(buffers.left() as u64);
        let bytes = link.flow.direct_size(buffers.left() as u64, MAX_TRANSFER);
        if bytes == 0 {
            return Ok(0);
        }
        let found = (0..link.endpoint.sizes().iomap)
            .find_map(|index| link.endpoint.iomap_entry(index).at(offset, u64::from(bytes)));
        let (address, key, bytes) = found.ok_or(Errno::EFAULT)?;
        let bytes = bytes as u32;
        let (from, wr_id) = link.flow.take_direct(bytes);
        for (at, length) in link.endpoint.around(from, bytes) {
            let to = link.endpoint.sending(at, length);
            if !to.is_null() {
                // SAFETY: within the region, in a part that nothing in flight uses.
                unsafe { buffers.gather(to, length as usize) };
            }
        }
        if let Err(error) = link.endpoint.post_direct((from, bytes), wr_id, (address, key)) {
            return Err(self.end_with(error));
        }
        count(|words| words.add(layout::BYTES_OUT, bytes.into()));
        Ok(bytes as usize)
    }
}
