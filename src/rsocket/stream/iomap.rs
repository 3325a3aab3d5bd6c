//! Direct writes: memory that the peer may write to (riomap), and writing to the peer's (riowrite).
//!
//! # Safety
//! Registers the caller's memory, which stays mapped until riounmap or rclose by the contract of
//! riomap.
#![allow(unsafe_code)]

use super::{Inner, Stream};
use crate::error::{Errno, Result};
use crate::rsocket::buffers::Buffers;
use crate::rsocket::flow::MAX_TRANSFER;
use crate::rsocket::wire::{IOMAP_ENTRY, IomapEntry, Segment};
use crate::verbs::MemoryRegion;
use crate::verbs_ext::{LOCAL, REMOTE_WRITE};
use libc::{PROT_WRITE, c_int, c_void};

/// What riomap has given away.
#[derive(Default)]
pub(super) struct Iomaps {
    maps: Vec<Map>,
    /// Entries that the peer has not been told of, oldest first.
    untold: Vec<(u16, IomapEntry)>,
}

struct Map {
    start: usize,
    length: usize,
    offset: i64,
    users: u32,
    /// Place in the peer's table; none for memory that only this side uses.
    index: Option<u16>,
    _registration: MemoryRegion,
}

impl Iomaps {
    pub(super) fn clear(&mut self) {
        self.maps.clear();
    }
}

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
            return Err(Errno::EINVAL);
        }
        let length_32 = u32::try_from(length).map_err(|_| Errno::EINVAL)?;
        self.check()?;
        let address = start as usize;
        let offset = if offset == -1 { address as i64 } else { offset };
        {
            let mut inner = self.inner.lock();
            if !inner.check_connected()? {
                return Err(Errno::EAGAIN);
            }
            let same =
                |map: &&mut Map| (map.start, map.length, map.offset) == (address, length, offset);
            if let Some(map) = inner.iomaps.maps.iter_mut().find(same) {
                map.users = map.users.checked_add(1).ok_or(Errno::ENOMEM)?;
                return Ok(offset);
            }
        }
        let access = if protection & PROT_WRITE != 0 { REMOTE_WRITE } else { LOCAL };
        // SAFETY: by contract. Without the lock: registering may sleep.
        let registration =
            unsafe { MemoryRegion::register(self.id().domain()?, start, length, access) }?;
        let mut inner = self.inner.lock();
        let mut index = None;
        if access == REMOTE_WRITE {
            let size = inner.link.as_ref().map_or(0, |link| link.endpoint.peer_iomap_size());
            let free = (0..size)
                .find(|place| inner.iomaps.maps.iter().all(|map| map.index != Some(*place)));
            index = Some(free.ok_or(Errno::ENOMEM)?);
        }
        let iomaps = &mut inner.iomaps;
        iomaps.maps.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        iomaps.untold.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        if let Some(place) = index {
            let segment = Segment {
                address: address as u64,
                key: registration.remote_key(),
                length: length_32,
            };
            iomaps.untold.push((place, IomapEntry { offset: offset as u64, segment }));
        }
        iomaps.maps.push(Map {
            start: address,
            length,
            offset,
            users: 1,
            index,
            _registration: registration,
        });
        // As much as may go now; the rest goes before the next data.
        inner.progress();
        inner.send_iomaps()?;
        Ok(offset)
    }

    pub(crate) fn unmap(&self, start: *mut c_void, length: usize) -> Result<()> {
        self.check()?;
        let map = {
            let mut inner = self.inner.lock();
            let at = inner.iomaps.maps.iter().position(|map| {
                map.start == start as usize && (map.length == length || length == 0)
            });
            let at = at.ok_or(Errno::EINVAL)?;
            inner.iomaps.untold.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            let map = &mut inner.iomaps.maps[at];
            map.users -= 1;
            if map.users > 0 {
                return Ok(());
            }
            let map = inner.iomaps.maps.swap_remove(at);
            if let Some(place) = map.index {
                inner.iomaps.untold.retain(|(other, _)| *other != place);
                inner.iomaps.untold.push((place, IomapEntry::default()));
                inner.progress();
                // What cannot be told now is told before the next data; the memory is closed anyway.
                let _ = inner.send_iomaps();
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
        let patience = |inner: &Inner| inner.patience(flags, inner.options.send_timeout);
        let written = self.wait_for(patience, &mut |inner: &mut Inner| {
            inner.progress();
            match inner.check_connected() {
                Ok(true) => {}
                Ok(false) => return Some(Err(Errno::EAGAIN)),
                Err(error) => return Some(Err(error)),
            }
            if let Err(error) = inner.check_writable().and_then(|()| inner.send_iomaps()) {
                return Some(Err(error));
            }
            while done < wanted {
                match inner.write_some(buffers, (offset as u64).wrapping_add(done as u64)) {
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

impl Inner {
    /// Tells the peer of entries, as far as the books allow.
    #[inline]
    pub(super) fn send_iomaps(&mut self) -> Result<()> {
        if self.iomaps.untold.is_empty() { Ok(()) } else { self.send_untold() }
    }

    #[cold]
    fn send_untold(&mut self) -> Result<()> {
        let Some(link) = &mut self.link else { return Ok(()) };
        while let Some((index, entry)) = self.iomaps.untold.first().copied() {
            if !link.is_alive() {
                break;
            }
            let Some((from, tag)) = link.flow.take_iomap(IOMAP_ENTRY as u32) else { break };
            self.iomaps.untold.remove(0);
            if let Err(error) = link.endpoint.post_iomap(from, tag, index, &entry) {
                return Err(self.broken(error));
            }
        }
        Ok(())
    }

    fn write_some(&mut self, buffers: &mut Buffers<'_>, offset: u64) -> Result<usize> {
        let Some(link) = &mut self.link else { return Err(Errno::ENOTCONN) };
        let bytes = link.flow.direct_size(buffers.left() as u64, MAX_TRANSFER);
        if bytes == 0 {
            return Ok(0);
        }
        let place = (0..link.endpoint.sizes().iomap)
            .find_map(|index| link.endpoint.iomap_entry(index).at(offset, u64::from(bytes)));
        let (address, key, bytes) = place.ok_or(Errno::EFAULT)?;
        let bytes = bytes as u32;
        let (from, tag) = link.flow.take_direct(bytes);
        for (at, length) in link.endpoint.around(from, bytes) {
            let to = link.endpoint.sending(at, length);
            if !to.is_null() {
                // SAFETY: within the region, in a part that nothing in flight uses.
                unsafe { buffers.gather(to, length as usize) };
            }
        }
        if let Err(error) = link.endpoint.post_direct((from, bytes), tag, (address, key)) {
            return Err(self.broken(error));
        }
        Ok(bytes as usize)
    }
}
