//! The field Date: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7). The obsolete forms are not read: no server sends them.

const MONTHS: [&[u8]; 12] = [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Seconds since 1970; `None` where it is no such date.
pub(super) fn unix_seconds(value: &[u8]) -> Option<u64> {
    let mut words = value.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let [_weekday, day, month, year, time, b"GMT"] = [(); 6].map(|()| words.next().unwrap_or_default()) else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let mut parts = time.split(|byte| *byte == b':').map(number);
    let [hours, minutes, seconds] = [parts.next()??, parts.next()??, parts.next()??];
    let (day, year) = (number(day)?, number(year)?);
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    Some(((days(year, month, day) * 24 + hours) * 60 + minutes) * 60 + seconds)
}

/// Days since 1970 of the Gregorian calendar. The year begins in March, so that the day that may be missing is its last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    // 719,468 days from the 1st of March of the year 0.
    year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|it| it.is_ascii_digit()))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By `date -u -d '…' +%s`.
    #[test]
    fn a_date_is_seconds() {
        for (date, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Nov 1994 24:49:37 GMT", None),
            ("Sun, +6 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 0 08:49:37 GMT", None),
            ("", None),
        ] {
            assert_eq!(unix_seconds(date.as_bytes()), seconds, "{date}");
        }
    }
}
