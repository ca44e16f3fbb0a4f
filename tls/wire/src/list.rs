use std::fmt;
use std::marker::PhantomData;

use crate::{Error, Reader, codec};

/// A list of 16-bit values, viewed where it stands: cipher suites, groups, schemes, versions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct List16<'a, T> {
    bytes: &'a [u8],
    element: PhantomData<T>,
}

impl<'a, T: From<u16> + Into<u16> + Copy + PartialEq> List16<'a, T> {
    /// A view over the content of the vector, without its length; the number of bytes must be even.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        if bytes.len().is_multiple_of(2) { Ok(List16 { bytes, element: PhantomData }) } else { Err(Error::BadLength) }
    }

    /// Appends `values`, without a length: what [`List16::from_bytes`] takes.
    pub fn encode(values: &[T], out: &mut Vec<u8>) {
        for &value in values {
            codec::u16(out, value.into());
        }
    }

    /// The values in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = T> + ExactSizeIterator + Clone + use<'a, T> {
        let (pairs, _) = self.bytes.as_chunks::<2>();
        pairs.iter().map(|&pair| T::from(u16::from_be_bytes(pair)))
    }

    /// Whether `value` is in the list.
    pub fn contains(&self, value: T) -> bool {
        self.iter().any(|element| element == value)
    }

    /// The first value.
    pub fn first(&self) -> Option<T> {
        self.iter().next()
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.bytes.len() / 2
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The content of the vector, without its length.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<T> Default for List16<'_, T> {
    fn default() -> Self {
        List16 { bytes: &[], element: PhantomData }
    }
}

impl<T: From<u16> + Into<u16> + Copy + PartialEq + fmt::Debug> fmt::Debug for List16<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Something that stands in a [`List`]: it knows its own length.
pub trait Element<'a>: Sized {
    /// Reads one off the front.
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error>;

    /// Appends the bytes that [`Element::read`] reads.
    fn write(&self, out: &mut Vec<u8>);
}

/// A list of elements of varying size, checked once and then viewed where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct List<'a, T> {
    bytes: &'a [u8],
    element: PhantomData<T>,
}

impl<'a, T: Element<'a>> List<'a, T> {
    /// A view over the content of the vector, without its length; every element is checked now.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            T::read(&mut reader)?;
        }
        Ok(List { bytes, element: PhantomData })
    }

    /// Appends `elements`, without a length: what [`List::from_bytes`] takes.
    pub fn encode(elements: impl IntoIterator<Item = T>, out: &mut Vec<u8>) {
        for element in elements {
            element.write(out);
        }
    }

    /// The elements in their order.
    pub fn iter(&self) -> impl Iterator<Item = T> + Clone + use<'a, T> {
        let mut reader = Reader::new(self.bytes);
        // An empty reader fails too, and `from_bytes` has let nothing else through that could.
        std::iter::from_fn(move || T::read(&mut reader).ok())
    }

    /// The first element.
    pub fn first(&self) -> Option<T> {
        self.iter().next()
    }

    /// The number of elements, counted by walking over them.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The content of the vector, without its length.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        List { bytes: &[], element: PhantomData }
    }
}

impl<'a, T: Element<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CipherSuite;

    #[test]
    fn an_odd_number_of_bytes_is_no_list_of_16_bit_values() {
        assert_eq!(List16::<CipherSuite>::from_bytes(&[0x13]), Err(Error::BadLength));
    }

    #[test]
    fn values_keep_their_order_and_unknown_ones_stay() {
        let mut bytes = Vec::new();
        let suites = [CipherSuite(0x0a0a), CipherSuite::TLS_AES_128_GCM_SHA256];
        List16::encode(&suites, &mut bytes);
        let list = List16::from_bytes(&bytes).unwrap();
        assert!(list.iter().eq(suites));
        assert!(list.contains(CipherSuite::TLS_AES_128_GCM_SHA256));
        assert!(!list.contains(CipherSuite::TLS_AES_256_GCM_SHA384));
        assert_eq!((list.len(), list.first()), (2, Some(CipherSuite(0x0a0a))));
    }
}
