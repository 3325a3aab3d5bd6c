//! Finds the rdma_cm device node once and opens it for each event channel.

use super::netlink;
use crate::error::{Errno, Result};
use crate::log;
use crate::memory::try_format;
use crate::once::Once;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

const CLIENT: &str = "rdma_cm";
const DEVICE_DIRECTORY: &str = "/dev/infiniband";
const SYSFS_DEVICE: &str = "/sys/class/misc/rdma_cm/dev";
const SYSFS_ABI: &str = "/sys/class/misc/rdma_cm/abi_version";
const ABI_VERSIONS: std::ops::RangeInclusive<u64> = 3..=4;

struct Node {
    path: String,
    /// Kernel's number of the device, where it told.
    device: Option<u64>,
}

/// Opens a new context of the rdma_cm device. A failed search is repeated by the next call.
pub(crate) fn open() -> Result<OwnedFd> {
    static NODE: Once<Node> = Once::new();
    let node = NODE.get_or_try_init(find)?;
    open_node(&node.path, node.device)
        .or_else(|error| {
            // In a container the node may only exist by number.
            let Some(device) = node.device.filter(|_| error == Errno::ENOENT) else {
                return Err(error);
            };
            let (major, minor) = (libc::major(device), libc::minor(device));
            let path = try_format(format_args!("/dev/char/{major}:{minor}"))?;
            open_node(&path, node.device).map_err(|_| error)
        })
        .inspect_err(|error| {
            log::line(format_args!("cannot open {}: {error}", node.path));
        })
}

fn open_node(path: &str, device: Option<u64>) -> Result<OwnedFd> {
    // std opens with O_CLOEXEC.
    let file: File = OpenOptions::new().read(true).write(true).open(path)?;
    if let Some(expected) = device {
        let metadata = file.metadata()?;
        if !metadata.file_type().is_char_device() || metadata.rdev() != expected {
            return Err(Errno::ENXIO);
        }
    }
    Ok(file.into())
}

fn find() -> Result<Node> {
    let path = |name: &str| try_format(format_args!("{DEVICE_DIRECTORY}/{name}"));
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
        Some(version) if !ABI_VERSIONS.contains(&version) => {
            log::line(format_args!("rdma_cm ABI version {version} is not supported"));
            Err(Errno::ENOSYS)
        }
        // Old kernels do not tell; all of them speak version 4.
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
fn sysfs<T>(path: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let mut text = [0; 32];
    let length = File::open(path).ok()?.read(&mut text).ok()?;
    parse(std::str::from_utf8(&text[..length]).ok()?.trim())
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
