// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Finds the rdma_cm device node once and opens it for each event channel.

use super::netlink;
use alloc::ffi::CString;
use base::errno::{Errno, Result};
use base::fd::{OwnedFd, read_start};
use base::memory::try_c_string;
use base::once::Once;
use base::unusable;
use core::ffi::CStr;
use libc::c_int;

const CLIENT: &str = "rdma_cm";
const DEVICE_DIRECTORY: &str = "/dev/infiniband";
const SYSFS_DEVICE: &CStr = c"/sys/class/misc/rdma_cm/dev";
const SYSFS_ABI: &CStr = c"/sys/class/misc/rdma_cm/abi_version";
const ABI_VERSIONS: core::ops::RangeInclusive<u64> = 3..=4;

struct Node {
    path: CString,
    /// The device number, where the kernel reports it.
    device: Option<u64>,
}

/// Opens a new context of the rdma_cm device, with the descriptor's flags as open(2) has them. A failed
/// search is repeated by the next call.
pub(crate) fn open(flags: c_int) -> Result<OwnedFd> {
    static NODE: Once<Node> = Once::new();
    let node = NODE.get_or_try_init(find)?;
    open_node(&node.path, node.device, flags)
        .or_else(|error| {
            // In a container the node may only exist by number.
            let Some(device) = node.device.filter(|_| error == Errno::ENOENT) else {
                return Err(error);
            };
            let (major, minor) = (libc::major(device), libc::minor(device));
            let path = try_c_string(format_args!("/dev/char/{major}:{minor}"))?;
            open_node(&path, node.device, flags).map_err(|_| error)
        })
        .inspect_err(|error| {
            let path = node.path.to_string_lossy();
            unusable!((*error), "cannot open {path}: {}", why(*error));
        })
}

/// The remedy for a device that cannot be opened.
fn why(error: Errno) -> &'static str {
    match error {
        Errno::ENOENT => "load the module: `modprobe rdma_ucm`",
        Errno::EACCES | Errno::EPERM => "the user needs read and write access to it",
        Errno::ENXIO | Errno::ENODEV => {
            "it is not the rdma_cm device: load rdma_ucm and let udev make the node anew"
        }
        Errno::EMFILE | Errno::ENFILE => "no descriptor is left: raise RLIMIT_NOFILE",
        _ => "the kernel gives no reason",
    }
}

fn open_node(path: &CStr, device: Option<u64>, flags: c_int) -> Result<OwnedFd> {
    let file = OwnedFd::open_as(path, libc::O_RDWR | flags)?;
    if let Some(expected) = device {
        let status = file.status()?;
        if status.st_mode & libc::S_IFMT != libc::S_IFCHR || status.st_rdev != expected {
            return Err(Errno::ENXIO);
        }
    }
    Ok(file)
}

fn find() -> Result<Node> {
    let path = |name: &str| try_c_string(format_args!("{DEVICE_DIRECTORY}/{name}"));
    let (node, abi) = match netlink::char_device(CLIENT) {
        Ok(answer) => {
            let node =
                Node { path: path(&answer.name)?, device: Some(device_number(answer.device)) };
            (node, answer.abi)
        }
        // Kernels before 5.1, or a network namespace without RDMA.
        Err(_) => (
            Node { path: path(CLIENT)?, device: sysfs(SYSFS_DEVICE, device_in) },
            sysfs(SYSFS_ABI, |text| text.parse().ok()),
        ),
    };
    match abi {
        Some(version) if !ABI_VERSIONS.contains(&version) => Err(unusable!(
            ENOSYS,
            "rdma_cm ABI version {version} is not supported, versions 3 and 4 are: a library or a \
                 kernel that fit"
        )),
        // Old kernels do not report it; all of them speak version 4.
        _ => Ok(node),
    }
}

/// From the kernel's 32-bit packing (12 bits of major, 20 of minor) to the one of libc.
fn device_number(kernel: u64) -> u64 {
    let major = (kernel >> 8) & 0xFFF;
    let minor = (kernel & 0xFF) | ((kernel >> 12) & 0xF_FF00);
    libc::makedev(major as u32, minor as u32)
}

/// "major:minor".
fn device_in(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    Some(libc::makedev(major.parse().ok()?, minor.parse().ok()?))
}

/// What a short file says, without the end of its line.
fn sysfs<T>(path: &CStr, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let mut text = [0; 32];
    parse(core::str::from_utf8(read_start(path, &mut text).ok()?).ok()?.trim())
}

#[cfg(test)]
mod tests {
    use super::device_number;

    #[test]
    fn device_numbers_are_unpacked() {
        assert_eq!(device_number((10 << 8) | 57), libc::makedev(10, 57));
        assert_eq!(device_number((231 << 8) | 0x40 | (0x12 << 20)), libc::makedev(231, 0x1240));
    }
}
