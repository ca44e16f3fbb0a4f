//! The table of primitives: one operation, repeated.

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

use super::{Table, Text};
use crate::{PrimitiveOptions, ReadyPrimitive, StackError};

/// More than any output: that of a random generator is as long as is asked for.
const LARGEST_OUTPUT: usize = 1 << 16;

#[repr(C)]
struct COptions {
    size: usize,
    operation: i32,
    algorithm: u16,
    length: usize,
    key: Text,
}

type New = unsafe extern "C" fn(*const COptions, *mut *mut c_void) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void);
type Run = unsafe extern "C" fn(*mut c_void, usize) -> c_int;
type Output = unsafe extern "C" fn(*const c_void, usize, *mut u8) -> isize;

/// `reprise_primitives` as it comes.
#[repr(C)]
pub(super) struct CPrimitives {
    size: usize,
    new: Option<New>,
    free: Option<Free>,
    run: Option<Run>,
    output: Option<Output>,
}

/// Its functions, all of them there.
#[derive(Clone, Copy)]
pub(super) struct PrimitiveTable {
    new: New,
    free: Free,
    run: Run,
    output: Output,
}

impl PrimitiveTable {
    /// `None` where there is no table, or one of which a function is missing.
    pub(super) fn read(table: *const CPrimitives) -> Option<Self> {
        // SAFETY: null, or by the header static, and it begins with its size.
        let is_whole = !table.is_null() && unsafe { ptr::read(&raw const (*table).size) } >= size_of::<CPrimitives>();
        // SAFETY: so many bytes are there.
        let table = is_whole.then(|| unsafe { &*table })?;
        Some(Self { new: table.new?, free: table.free?, run: table.run?, output: table.output? })
    }
}

/// A `reprise_primitive`.
pub(crate) struct RawPrimitive {
    table: Table,
    functions: PrimitiveTable,
    primitive: NonNull<c_void>,
}

impl RawPrimitive {
    pub(crate) fn new(table: Table, options: &PrimitiveOptions<'_>) -> Result<Self, StackError> {
        let functions = table.primitives.ok_or_else(|| StackError::unsupported("the plugin shows no primitives"))?;
        let options = COptions {
            size: size_of::<COptions>(),
            operation: options.operation as i32,
            algorithm: options.algorithm,
            length: options.length,
            key: Text {
                data: options.key.map_or(ptr::null(), |key| key.as_ptr().cast()),
                length: options.key.map_or(0, str::len),
            },
        };
        let mut made = ptr::null_mut();
        // SAFETY: what the options point to lives until the call returns, and is only read.
        let returned = unsafe { (functions.new)(&raw const options, &raw mut made) };
        if returned as isize == super::UNSUPPORTED {
            return Err(StackError::unsupported("the library has it not"));
        }
        let primitive = table.made("primitive_new", returned, made)?;
        Ok(Self { table, functions, primitive })
    }
}

impl ReadyPrimitive for RawPrimitive {
    fn prepare(&mut self, _count: usize) -> Result<(), StackError> {
        Ok(())
    }

    fn run(&mut self, count: usize) -> Result<(), StackError> {
        // SAFETY: ours, and nobody else calls meanwhile.
        match unsafe { (self.functions.run)(self.primitive.as_ptr(), count) } {
            0 => Ok(()),
            error => Err(self.table.error("run", error as isize)),
        }
    }

    fn output(&self) -> Result<Vec<u8>, StackError> {
        let mut out = vec![0; LARGEST_OUTPUT];
        // SAFETY: ours; so many bytes may be written.
        let returned = unsafe { (self.functions.output)(self.primitive.as_ptr(), out.len(), out.as_mut_ptr()) };
        let length = usize::try_from(returned).ok().filter(|length| *length <= out.len());
        out.truncate(length.ok_or_else(|| self.table.error("output", returned))?);
        Ok(out)
    }
}

impl Drop for RawPrimitive {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { (self.functions.free)(self.primitive.as_ptr()) };
    }
}
