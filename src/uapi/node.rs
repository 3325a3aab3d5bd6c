//! Finds the rdma_cm device node once and opens it for each event channel.

use super::netlink;
use crate::error::{Errno, Result};
use crate::log;
use crate::once::Once;
use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

const CLIENT: &str = "rdma_cm";
const DEVICE_DIRECTORY: &str = "/dev/infiniband";
const SYSFS: &str = "/sys/class/misc/rdma_cm";
const ABI_VERSIONS: std::ops::RangeInclusive<u64> = 3..=4;

struct Node {
    path: PathBuf,
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
            let by_number = node
                .device
                .map(|device| format!("/dev/char/{}:{}", libc::major(device), libc::minor(device)));
            match by_number {
                Some(path) if error == Errno::ENOENT => {
                    open_node(Path::new(&path), node.device).map_err(|_| error)
                }
                _ => Err(error),
            }
        })
        .inspect_err(|error| {
            log::line(format_args!("cannot open {}: {error}", node.path.display()));
        })
}

fn open_node(path: &Path, device: Option<u64>) -> Result<OwnedFd> {
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
    let directory = Path::new(DEVICE_DIRECTORY);
    let (node, abi) = match netlink::char_device(CLIENT) {
        Ok(answer) => {
            let node = Node {
                path: directory.join(&answer.name),
                device: Some(device_number(answer.device)),
            };
            (node, answer.abi)
        }
        // Kernels before 5.1, or a network namespace without RDMA.
        Err(_) => (
            Node { path: directory.join(CLIENT), device: sysfs_device() },
            sysfs_number("abi_version"),
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

fn sysfs_device() -> Option<u64> {
    let text = std::fs::read_to_string(Path::new(SYSFS).join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some(libc::makedev(major.parse().ok()?, minor.parse().ok()?))
}

fn sysfs_number(file: &str) -> Option<u64> {
    std::fs::read_to_string(Path::new(SYSFS).join(file)).ok()?.trim().parse().ok()
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
