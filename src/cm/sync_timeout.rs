// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The limit of internal waits (`RDMACM_SYNC_TIMEOUT_MS`). The C API knows none: without the
//! variable a wait takes as long as it takes.

use base::deadline::Timeout;
use base::once::Once;
use base::settings;
use base::variable;
use core::time::Duration;

/// None where the variable is absent, zero or not a number.
pub(crate) fn sync_timeout() -> Timeout {
    static TIMEOUT: Once<Timeout> = Once::new();
    TIMEOUT.get_or_init(|| variable::number(settings::SYNC_TIMEOUT.name, limit).into())
}

fn limit(milliseconds: u64) -> Option<Duration> {
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_no_limit() {
        assert_eq!(limit(250), Some(Duration::from_millis(250)));
        assert_eq!(limit(0), None);
    }
}
