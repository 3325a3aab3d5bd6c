//! Whether an instance may be waited for from outside: in another instance of the process. Poll and select, and
//! what is added to an instance later, come by.

use libc::c_int;
use std::fs;
use std::path::{Path, PathBuf};

const DESCRIPTORS: &str = "/proc/self/fd";

fn is_instance(link: &Path) -> Option<bool> {
    Some(fs::read_link(link).ok()?.as_os_str() == "anon_inode:[eventpoll]")
}

/// True also where it cannot be known.
pub(super) fn may_have(instance: c_int) -> bool {
    let Ok(entries) = fs::read_dir(DESCRIPTORS) else { return true };
    let links = entries.flatten().map(|entry| entry.path());
    links.filter(|link| is_instance(link) == Some(true)).any(|link| has_instance(&link, instance))
}

/// Whether an instance has this one, or one that is not known by its number any more.
fn has_instance(link: &Path, instance: c_int) -> bool {
    let Some(own) = link.file_name() else { return true };
    let info = Path::new("/proc/self/fdinfo").join(own);
    let Ok(info) = fs::read_to_string(info) else { return false };
    let members =
        info.lines().filter_map(|line| line.strip_prefix("tfd:")?.split_whitespace().next());
    members
        .map(|member| (member.parse() == Ok(instance), PathBuf::from(DESCRIPTORS).join(member)))
        .any(|(is_this, link)| is_this || is_instance(&link).is_none_or(|is_instance| is_instance))
}
