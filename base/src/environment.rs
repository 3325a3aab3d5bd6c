// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Variables of the environment, read in place: a copy would have to be allocated.
//!
//! # Safety
//! As with every getenv(3), no thread of the program changes the environment meanwhile.
#![allow(unsafe_code)]

use core::ffi::CStr;

/// What `read` makes of a variable; None if it is not set or not UTF-8. None for all of them in a
/// program with more rights than whoever set them (AT_SECURE: setuid, setgid, capabilities).
pub fn read<R>(name: &CStr, read: impl FnOnce(&str) -> Option<R>) -> Option<R> {
    // SAFETY: no pointers.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return None;
    }
    // SAFETY: a C string; the value is one, too, and nobody changes it.
    let value = unsafe {
        let value = libc::getenv(name.as_ptr());
        if value.is_null() {
            return None;
        }
        CStr::from_ptr(value)
    };
    read(value.to_str().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_none() {
        assert_eq!(read(c"RDMACM_NO_SUCH_VARIABLE", |value| Some(value.len())), None);
        assert_eq!(read(c"PATH", |value| Some(value.is_empty())), Some(false));
    }

    /// Runs this test program again with the rights of another user, and with `secure` to check.
    #[test]
    fn a_program_with_more_rights_than_its_user_reads_none() {
        use std::os::unix::fs::{PermissionsExt, chown};
        let test = "environment::tests::secure";
        let Ok(own) = std::env::current_exe() else { return };
        let copy = std::env::temp_dir().join(format!("secure-{}", std::process::id()));
        let permissions = std::fs::Permissions::from_mode(0o4755);
        let made = std::fs::copy(own, &copy).map(drop);
        let made = made.and_then(|()| chown(&copy, Some(65534), Some(65534)));
        let made = made.and_then(|()| std::fs::set_permissions(&copy, permissions));
        let ended = made.and_then(|()| {
            std::process::Command::new(&copy).args(["--exact", test, "--ignored"]).output()
        });
        let _ = std::fs::remove_file(&copy);
        // Without the right to make such a program there is nothing to see.
        let Ok(ended) = ended else { return };
        let text = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && text.contains("1 passed"), "{text}");
    }

    #[test]
    #[ignore = "for the test above"]
    fn secure() {
        // SAFETY: no pointers.
        let is_secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
        assert_eq!(read(c"PATH", |value| Some(value.len())).is_none(), is_secure);
        // A file system that gives no rights (nosuid) leaves nothing to see.
        println!("AT_SECURE is {is_secure}");
    }
}
