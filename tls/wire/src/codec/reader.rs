use crate::Error;

/// Reads fields off the front of a byte string; whatever it hands out borrows from that string.
///
/// After an error the position is unspecified, and the reader is of no further use.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the first of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Reads the whole of `bytes`: [`Error::TrailingData`] if `read` leaves anything over.
    pub fn whole<T>(bytes: &'a [u8], read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let mut reader = Reader::new(bytes);
        let value = read(&mut reader)?;
        reader.finish()?;
        Ok(value)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(|&[byte]| byte)
    }

    /// A 16-bit integer.
    pub fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(|&bytes| u16::from_be_bytes(bytes))
    }

    /// A 24-bit integer.
    pub fn u24(&mut self) -> Result<u32, Error> {
        self.array().map(|&[high, middle, low]| u32::from_be_bytes([0, high, middle, low]))
    }

    /// A 32-bit integer.
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(|&bytes| u32::from_be_bytes(bytes))
    }

    /// A 64-bit integer.
    pub fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(|&bytes| u64::from_be_bytes(bytes))
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.rest.split_at_checked(n).ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next `N` bytes, as an array.
    pub fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Error> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The content of a vector with an 8-bit length.
    pub fn vec8(&mut self) -> Result<&'a [u8], Error> {
        let len = self.u8()?;
        self.take(len.into())
    }

    /// The content of a vector with a 16-bit length.
    pub fn vec16(&mut self) -> Result<&'a [u8], Error> {
        let len = self.u16()?;
        self.take(len.into())
    }

    /// The content of a vector with a 24-bit length.
    pub fn vec24(&mut self) -> Result<&'a [u8], Error> {
        let len = self.u24()?;
        self.take(usize::try_from(len).map_err(|_| Error::Truncated)?)
    }

    /// Everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Whether nothing is left.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// How many bytes are left.
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// What has been read since `start`, an earlier copy of this reader.
    pub fn read_since(&self, start: Self) -> &'a [u8] {
        let len = start.remaining().saturating_sub(self.remaining());
        start.rest.get(..len).unwrap_or_default()
    }

    /// Ends the reading: [`Error::TrailingData`] if anything is left.
    pub fn finish(self) -> Result<(), Error> {
        if self.is_empty() { Ok(()) } else { Err(Error::TrailingData) }
    }
}

/// Refuses an empty vector where the definition has a lower bound of one element.
pub(crate) fn non_empty(bytes: &[u8]) -> Result<&[u8], Error> {
    if bytes.is_empty() { Err(Error::BadLength) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_big_endian() {
        let mut reader = Reader::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(reader.u8(), Ok(0x01));
        assert_eq!(reader.u16(), Ok(0x0203));
        assert_eq!(reader.u24(), Ok(0x04_0506));
        assert_eq!(reader.u32(), Ok(0x0708_090a));
        assert_eq!(reader.finish(), Ok(()));
        assert_eq!(Reader::new(&[0, 0, 0, 0, 0, 0, 1, 2]).u64(), Ok(0x0102));
    }

    #[test]
    fn a_vector_longer_than_the_bytes_is_truncated() {
        assert_eq!(Reader::new(&[2, 1]).vec8(), Err(Error::Truncated));
        assert_eq!(Reader::new(&[0, 2, 1]).vec16(), Err(Error::Truncated));
        assert_eq!(Reader::new(&[0, 0, 2, 1]).vec24(), Err(Error::Truncated));
        assert_eq!(Reader::new(&[0, 0]).vec24(), Err(Error::Truncated));
        assert_eq!(Reader::new(&[2, 1, 9]).vec8(), Ok(&[1, 9][..]));
    }

    #[test]
    fn what_was_read_since_a_copy_is_at_hand() {
        let mut reader = Reader::new(&[1, 2, 3, 4]);
        assert_eq!(reader.u8(), Ok(1));
        let start = reader;
        assert_eq!(reader.u16(), Ok(0x0203));
        assert_eq!(reader.read_since(start), &[2, 3]);
    }

    #[test]
    fn leftovers_are_refused_at_the_end() {
        let mut reader = Reader::new(&[1, 2]);
        assert_eq!(reader.u8(), Ok(1));
        assert_eq!(reader.finish(), Err(Error::TrailingData));
        assert_eq!(reader.rest(), &[2]);
        assert_eq!(reader.finish(), Ok(()));
    }
}
