//! The C edge: `tls/stacks/include/reprise_stack.h` in Rust. All that is unsafe in this crate stands here, behind types that keep
//! the header's rules: nothing is freed twice, a context outlives what it made, outputs are read on success alone.
//!
//! What no type can keep is that a plugin's code is sound: it runs in this process, and is trusted with it.
#![allow(unsafe_code)]

mod primitive;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};

pub(crate) use self::primitive::RawPrimitive;
use self::primitive::{CPrimitives, PrimitiveTable};
use reprise_model::{KeyPairs, PskMode, Version};
use reprise_wire::{CipherSuite, NamedGroup};

use crate::{Abilities, Ability, ContextOptions, KeptBy, SessionMode, Side, StackAccount, StackError};

/// `REPRISE_STACK_ABI`.
const ABI: u32 = 1;
/// `REPRISE_STACK_SYMBOL`.
const SYMBOL: &str = "reprise_stack_v1";

pub(crate) const WANT_READ: isize = -1;
pub(crate) const WANT_WRITE: isize = -2;
pub(crate) const CLOSED: isize = -3;
pub(crate) const UNSUPPORTED: isize = -100;
pub(crate) const BAD_CERTIFICATE: isize = -103;
const TOO_SMALL: isize = -105;
const NO_SESSION: isize = -106;

/// No session is larger: a certificate chain is the most that one holds.
const LARGEST_SESSION: usize = 1 << 20;
const LONGEST_TEXT: usize = 1024;
/// What a plugin has room for at least when it writes bytes: one record of any kind (RFC 5246 §6.2.3).
pub(crate) const ROOM: usize = 5 + (1 << 14) + 2048;

#[repr(C)]
struct Text {
    data: *const c_char,
    length: usize,
}

#[repr(C)]
struct CContextOptions {
    size: usize,
    side: i32,
    version: u16,
    sessions: i32,
    suites: *const u16,
    suites_length: usize,
    groups: *const u16,
    groups_length: usize,
    chain: Text,
    key: Text,
    trust: Text,
    require_client_certificate: i32,
    server_name: *const c_char,
    psk_ke: i32,
    max_early_data: u32,
    own_library_context: i32,
    psk_identity: Text,
    psk_key: *const u8,
    psk_key_length: usize,
    key_pairs: i32,
    max_fragment: u32,
    release_buffers: i32,
    share_all_groups: i32,
}

#[repr(C)]
struct CFacts {
    size: usize,
    version: u16,
    suite: u16,
    group: u16,
    resumed: i8,
    resumed_by: i8,
    client_certificate: i8,
    early_data: i8,
}

type EarlyWrite = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> isize;
type Pregenerate = unsafe extern "C" fn(*mut c_void, usize) -> c_int;
type EarlyRead = unsafe extern "C" fn(*mut c_void, usize, *mut u8) -> isize;

macro_rules! table {
    ($($name:ident: $function:ty,)+) => {
        /// `reprise_stack` as it comes: every pointer may be null until [`load`] has looked.
        #[repr(C)]
        struct CTable {
            abi: u32,
            size: u32,
            name: *const c_char,
            version: *const c_char,
            flags: *const c_char,
            capabilities: u32,
            $($name: Option<$function>,)+
            early_write: Option<EarlyWrite>,
            early_read: Option<EarlyRead>,
            _random: *const c_void,
            pregenerate: Option<Pregenerate>,
            primitives: *const CPrimitives,
        }

        /// A plugin's functions, all of them there. The library is never unloaded: it may have started what refers to its code.
        #[derive(Clone, Copy)]
        pub(crate) struct Table {
            $($name: $function,)+
            early: Option<(EarlyWrite, EarlyRead)>,
            pregenerate: Option<Pregenerate>,
            primitives: Option<PrimitiveTable>,
        }

        /// Every function, or the name of one that is missing.
        fn functions(table: &CTable) -> Result<Table, &'static str> {
            Ok(Table {
                $($name: table.$name.ok_or(stringify!($name))?,)+
                early: table.early_write.zip(table.early_read),
                pregenerate: table.pregenerate,
                primitives: PrimitiveTable::read(table.primitives),
            })
        }
    };
}

table! {
    init: unsafe extern "C" fn() -> c_int,
    context_new: unsafe extern "C" fn(*const CContextOptions, *mut *mut c_void) -> c_int,
    context_free: unsafe extern "C" fn(*mut c_void),
    connection_new: unsafe extern "C" fn(*mut c_void, *const c_void, *mut *mut c_void) -> c_int,
    connection_free: unsafe extern "C" fn(*mut c_void),
    feed: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> isize,
    take: unsafe extern "C" fn(*mut c_void, usize, *mut u8) -> isize,
    handshake: unsafe extern "C" fn(*mut c_void) -> c_int,
    read: unsafe extern "C" fn(*mut c_void, usize, *mut u8) -> isize,
    write: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> isize,
    close: unsafe extern "C" fn(*mut c_void) -> c_int,
    facts: unsafe extern "C" fn(*const c_void, *mut CFacts) -> c_int,
    session_take: unsafe extern "C" fn(*mut c_void, *mut *mut c_void) -> c_int,
    session_free: unsafe extern "C" fn(*mut c_void),
    session_export: unsafe extern "C" fn(*const c_void, usize, *mut u8) -> isize,
    session_import: unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut *mut c_void) -> c_int,
    error_text: unsafe extern "C" fn(usize, *mut c_char) -> usize,
}

/// What every plugin has: its table ended here in the first version of the header.
const SMALLEST_TABLE: usize = std::mem::offset_of!(CTable, early_write);

/// What a plugin says of itself.
pub(crate) struct Said {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) flags: String,
    pub(crate) abilities: Abilities,
}

/// Loads a plugin for as long as the process lives, checks its table and initialises its library.
pub(crate) fn load(path: &Path) -> Result<(Table, Said), StackError> {
    // A name without a slash would be looked for along the loader's path.
    let whole = path.canonicalize().map_err(|source| StackError::Unreadable { path: path.to_owned(), source })?;
    let path = || path.to_owned();
    // SAFETY: the initialisers of the library run, which the caller has chosen to trust.
    let library = unsafe { Library::open(Some(&whole), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| StackError::NotLoaded { path: path(), reason: error.to_string() })?;
    // SAFETY: the header declares the symbol as a function of this type.
    let symbol: Result<Symbol<unsafe extern "C" fn() -> *const CTable>, _> = unsafe { library.get(SYMBOL.as_bytes()) };
    let Ok(symbol) = symbol else { return Err(StackError::NoPlugin { path: path(), symbol: SYMBOL }) };
    // SAFETY: as above; it takes nothing.
    let table = unsafe { symbol() };
    std::mem::forget(library);
    let missing = |what| StackError::Missing { path: path(), what };
    if table.is_null() {
        return Err(missing("a table"));
    }
    // SAFETY: not null, and static by the header. Whatever its ABI, it begins with the version and the size.
    let (found, size) = unsafe { (ptr::read(&raw const (*table).abi), ptr::read(&raw const (*table).size)) };
    if found != ABI {
        return Err(StackError::WrongAbi { path: path(), found, wanted: ABI });
    }
    if (size as usize) < SMALLEST_TABLE {
        return Err(StackError::TableTooSmall { path: path(), found: size, wanted: SMALLEST_TABLE as u32 });
    }
    let table = read_table(table, size as usize);
    let mut abilities = Abilities::from_bits(table.capabilities);
    let mut functions = functions(&table).map_err(missing)?;
    functions.early = functions.early.filter(|_| abilities.has(Ability::EarlyData));
    if functions.early.is_none() {
        abilities = abilities.without(Ability::EarlyData);
    }
    if functions.pregenerate.is_none() {
        abilities = abilities.without(Ability::KeysAhead);
    }
    // The header has no such option.
    abilities = abilities.without(Ability::ChainMemory);
    let said = Said {
        name: text(table.name).ok_or_else(|| missing("name"))?,
        version: text(table.version).ok_or_else(|| missing("version"))?,
        flags: text(table.flags).ok_or_else(|| missing("flags"))?,
        abilities,
    };
    // SAFETY: the header has it called once, first; a library that is loaded a second time allows it again.
    if unsafe { (functions.init)() } != 0 {
        return Err(StackError::NotInitialised { path: path(), said: functions.said("init", 0) });
    }
    Ok((functions, said))
}

/// A table of our version, of which `size` bytes are there: what an older plugin does not have is null.
fn read_table(from: *const CTable, size: usize) -> CTable {
    // No part of a pointer is one.
    let size = size.min(size_of::<CTable>()) & !(align_of::<CTable>() - 1);
    let mut table = MaybeUninit::<CTable>::zeroed();
    // SAFETY: so many bytes are at both places; the rest is zero, which is null for every pointer and function.
    unsafe {
        ptr::copy_nonoverlapping(from.cast::<u8>(), table.as_mut_ptr().cast::<u8>(), size);
        table.assume_init()
    }
}

/// A static text of the table.
fn text(text: *const c_char) -> Option<String> {
    // SAFETY: not null, and by the header terminated by a zero and static.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

impl Table {
    /// Why the last call failed, in the library's words.
    pub(crate) fn said(&self, call: &'static str, returned: isize) -> String {
        let mut text = vec![0_u8; LONGEST_TEXT];
        // SAFETY: so many bytes may be written.
        let length = unsafe { (self.error_text)(text.len(), text.as_mut_ptr().cast()) };
        text.truncate(length.min(LONGEST_TEXT));
        match String::from_utf8_lossy(&text).trim() {
            "" => format!("{call} failed ({returned})"),
            words => words.to_owned(),
        }
    }

    fn error(&self, call: &'static str, returned: isize) -> StackError {
        match returned {
            UNSUPPORTED => StackError::unsupported(format!("unsupported: {}", self.said(call, returned))),
            ..=-100 => StackError::Refused { call, said: self.said(call, returned) },
            returned => StackError::BrokenContract { call, returned: returned as i64 },
        }
    }

    /// What a `_new` has made.
    fn made(&self, call: &'static str, returned: c_int, made: *mut c_void) -> Result<NonNull<c_void>, StackError> {
        match (returned, NonNull::new(made)) {
            (0, Some(made)) => Ok(made),
            (0, None) => Err(StackError::BrokenContract { call, returned: 0 }),
            (error, _) => Err(self.error(call, error as isize)),
        }
    }
}

/// A `reprise_context`.
pub(crate) struct RawContext {
    table: Table,
    context: NonNull<c_void>,
    side: Side,
}

// SAFETY: a context goes to another thread by `Context::for_another_thread` alone, which asks for `REPRISE_CAN_SHARE_CONTEXT`: by the header,
// several threads may then make connections of it at once, and any of them may free it. Without it, it stays where it was made.
unsafe impl Send for RawContext {}
// SAFETY: likewise.
unsafe impl Sync for RawContext {}

impl RawContext {
    pub(crate) fn new(table: Table, options: &ContextOptions<'_>, owns_library: bool) -> Result<Arc<Self>, StackError> {
        let text = |text: Option<&str>| Text {
            data: text.map_or(ptr::null(), |text| text.as_ptr().cast()),
            length: text.map_or(0, str::len),
        };
        let server_name = std::ffi::CString::new(options.server_name)
            .map_err(|_| StackError::refused("context_new", "the server's name holds a zero"))?;
        let asked = not_all_of(options);
        let (key_pairs, side) = (options.key_pairs, options.side);
        let options = CContextOptions {
            size: size_of::<CContextOptions>(),
            side: i32::from(options.side == Side::Server),
            version: number(options.version),
            sessions: match options.sessions {
                SessionMode::Off => 0,
                SessionMode::Id => 1,
                SessionMode::Ticket => 2,
            },
            suites: options.suites.as_ptr(),
            suites_length: options.suites.len(),
            groups: options.groups.as_ptr(),
            groups_length: options.groups.len(),
            chain: text(options.identity.map(|identity| identity.chain)),
            key: text(options.identity.map(|identity| identity.key)),
            trust: text(options.trust),
            require_client_certificate: i32::from(options.require_client_certificate),
            server_name: match options.side {
                Side::Client => server_name.as_ptr(),
                Side::Server => ptr::null(),
            },
            psk_ke: i32::from(options.psk_mode == PskMode::PskKe),
            max_early_data: options.max_early_data,
            own_library_context: i32::from(owns_library),
            psk_identity: text(options.psk.map(|psk| psk.identity)),
            psk_key: options.psk.map_or(ptr::null(), |psk| psk.key.as_ptr()),
            psk_key_length: options.psk.map_or(0, |psk| psk.key.len()),
            key_pairs: match options.key_pairs {
                KeyPairs::Fresh => 0,
                KeyPairs::Ahead => 1,
                KeyPairs::Reused => 2,
            },
            max_fragment: options.max_fragment.map_or(0, u32::from),
            release_buffers: i32::from(options.releases_buffers),
            share_all_groups: i32::from(options.shares_all_groups),
        };
        let mut made = ptr::null_mut();
        // SAFETY: everything that the options point to lives until the call returns, and is only read.
        let returned = unsafe { (table.context_new)(&raw const options, &raw mut made) };
        if returned as isize == UNSUPPORTED {
            // A plugin that can do it in another version or group says why not in this one.
            let why = Some(table.said("", returned as isize)).filter(|_| key_pairs != KeyPairs::Fresh);
            return Err(StackError::unsupported(why.unwrap_or(asked)));
        }
        let context = table.made("context_new", returned, made)?;
        Ok(Arc::new(Self { table, context, side }))
    }

    pub(crate) fn side(&self) -> Side {
        self.side
    }

    pub(crate) fn connect(self: &Arc<Self>, session: Option<&RawSession>) -> Result<RawConnection, StackError> {
        let session = session.map_or(ptr::null(), |session| session.session.as_ptr().cast_const());
        let mut made = ptr::null_mut();
        // SAFETY: the context and the session live; the plugin keeps neither pointer beyond the connection.
        let returned = unsafe { (self.table.connection_new)(self.context.as_ptr(), session, &raw mut made) };
        let connection = self.table.made("connection_new", returned, made)?;
        Ok(RawConnection { context: Arc::clone(self), connection })
    }

    pub(crate) fn import(self: &Arc<Self>, bytes: &[u8]) -> Result<RawSession, StackError> {
        let mut made = ptr::null_mut();
        // SAFETY: so many bytes are read during the call.
        let returned =
            unsafe { (self.table.session_import)(self.context.as_ptr(), bytes.as_ptr(), bytes.len(), &raw mut made) };
        let session = self.table.made("session_import", returned, made)?;
        Ok(RawSession { context: Arc::clone(self), session })
    }

    pub(crate) fn pregenerate(&self, count: usize) -> Result<(), StackError> {
        const CALL: &str = "pregenerate";
        let Some(pregenerate) = self.table.pregenerate else {
            return Err(StackError::unsupported("the plugin makes no key pairs ahead"));
        };
        // SAFETY: the context lives; nothing else is handed over.
        match unsafe { pregenerate(self.context.as_ptr(), count) } {
            0 => Ok(()),
            returned => Err(self.table.error(CALL, returned as isize)),
        }
    }

    /// As [`Table::said`].
    pub(crate) fn said(&self, call: &'static str, returned: isize) -> String {
        self.table.said(call, returned)
    }
}

impl Drop for RawContext {
    fn drop(&mut self) {
        // SAFETY: ours, and everything that was made of it holds it, so that nothing is left.
        unsafe { (self.table.context_free)(self.context.as_ptr()) };
    }
}

/// What a library cannot be held to, by IANA's names: which of it, none says.
fn not_all_of(options: &ContextOptions<'_>) -> String {
    let groups: Vec<String> = options.groups.iter().map(|&group| NamedGroup(group).to_string()).collect();
    // What every TLS 1.3 library must have (RFC 9846 §9.1) is not what is missing.
    let must_have = [CipherSuite::TLS_AES_128_GCM_SHA256.0];
    if options.suites == must_have && options.psk.is_none() && options.max_fragment.is_none() && !groups.is_empty() {
        return match groups.as_slice() {
            [group] => format!("it has no group {group}"),
            groups => format!("it does not have all of the groups {}", groups.join(", ")),
        };
    }
    let suites = options.suites.iter().map(|&suite| CipherSuite(suite).to_string());
    let fragments = options.max_fragment.map(|most| format!("records of at most {most} bytes under {}", options.version));
    let all: Vec<String> = suites.chain(groups).chain(fragments).collect();
    format!("it does not take {}", all.join(" with "))
}

/// IANA's number of a version.
fn number(version: Version) -> u16 {
    match version {
        Version::Tls12 => 0x0303,
        Version::Tls13 => 0x0304,
    }
}

/// A `reprise_connection`. Its calls return what the plugin did: a count, a state or an error.
pub(crate) struct RawConnection {
    context: Arc<RawContext>,
    connection: NonNull<c_void>,
}

impl RawConnection {
    pub(crate) fn context(&self) -> &Arc<RawContext> {
        &self.context
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) -> isize {
        // SAFETY: so many bytes are read during the call.
        let count = unsafe { (self.context.table.feed)(self.connection.as_ptr(), bytes.as_ptr(), bytes.len()) };
        count.min(bytes.len() as isize)
    }

    /// Appends what it wants to send to `out`; where that is full afterwards, there may be more.
    pub(crate) fn take(&mut self, out: &mut Vec<u8>) -> isize {
        let (take, connection) = (self.context.table.take, self.connection.as_ptr());
        // SAFETY: so many bytes may be written.
        append(out, |capacity, room| unsafe { take(connection, capacity, room) })
    }

    /// Early data, before the first [`RawConnection::handshake`]; none, where the plugin has no such function.
    pub(crate) fn early_write(&mut self, data: &[u8]) -> isize {
        let Some((early_write, _)) = self.context.table.early else { return 0 };
        // SAFETY: so many bytes are read during the call.
        unsafe { early_write(self.connection.as_ptr(), data.as_ptr(), data.len()) }.min(data.len() as isize)
    }

    /// Appends early data to `out`; none, where the plugin has no such function.
    pub(crate) fn early_read(&mut self, out: &mut Vec<u8>) -> isize {
        let Some((_, early_read)) = self.context.table.early else { return 0 };
        let connection = self.connection.as_ptr();
        // SAFETY: so many bytes may be written.
        append(out, |capacity, room| unsafe { early_read(connection, capacity, room) })
    }

    pub(crate) fn handshake(&mut self) -> isize {
        // SAFETY: the connection lives.
        unsafe { (self.context.table.handshake)(self.connection.as_ptr()) as isize }
    }

    pub(crate) fn read(&mut self, out: &mut [u8]) -> isize {
        // SAFETY: so many bytes may be written.
        let count = unsafe { (self.context.table.read)(self.connection.as_ptr(), out.len(), out.as_mut_ptr()) };
        count.min(out.len() as isize)
    }

    pub(crate) fn write(&mut self, data: &[u8]) -> isize {
        // SAFETY: so many bytes are read during the call.
        let count = unsafe { (self.context.table.write)(self.connection.as_ptr(), data.as_ptr(), data.len()) };
        count.min(data.len() as isize)
    }

    pub(crate) fn close(&mut self) -> isize {
        // SAFETY: the connection lives.
        unsafe { (self.context.table.close)(self.connection.as_ptr()) as isize }
    }

    pub(crate) fn account(&self) -> Result<StackAccount, StackError> {
        let mut facts = CFacts {
            size: size_of::<CFacts>(),
            version: 0,
            suite: 0,
            group: 0,
            resumed: -1,
            resumed_by: -1,
            client_certificate: -1,
            early_data: -1,
        };
        // SAFETY: the struct is ours, and its size says how far it may be written.
        let returned = unsafe { (self.context.table.facts)(self.connection.as_ptr(), &raw mut facts) };
        if returned != 0 {
            return Err(self.context.table.error("facts", returned as isize));
        }
        let known = |told: i8| (told >= 0).then_some(told != 0);
        Ok(StackAccount {
            version: facts.version,
            suite: facts.suite,
            group: (facts.group != 0).then_some(facts.group),
            resumed: known(facts.resumed),
            resumed_by: match facts.resumed_by {
                1 => Some(KeptBy::Cache),
                2 => Some(KeptBy::Ticket),
                _ => None,
            },
            client_certificate: known(facts.client_certificate),
            early_data: known(facts.early_data),
        })
    }

    /// The newest session that was not taken; `None` where there is none.
    pub(crate) fn session(&mut self) -> Result<Option<RawSession>, StackError> {
        let table = &self.context.table;
        let mut made = ptr::null_mut();
        // SAFETY: the connection lives.
        let returned = unsafe { (table.session_take)(self.connection.as_ptr(), &raw mut made) };
        if returned as isize == NO_SESSION {
            return Ok(None);
        }
        let session = table.made("session_take", returned, made)?;
        Ok(Some(RawSession { context: Arc::clone(&self.context), session }))
    }
}

/// Has `write` put bytes behind those of `out`, in as much room as is reserved, and at least [`ROOM`]. What it returns.
fn append(out: &mut Vec<u8>, write: impl FnOnce(usize, *mut u8) -> isize) -> isize {
    out.reserve(ROOM);
    let room = out.spare_capacity_mut();
    let count = write(room.len(), room.as_mut_ptr().cast()).min(room.len() as isize);
    if count > 0 {
        // SAFETY: by the header so many bytes were written, and there is room for them.
        unsafe { out.set_len(out.len() + count as usize) };
    }
    count
}

impl Drop for RawConnection {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { (self.context.table.connection_free)(self.connection.as_ptr()) };
    }
}

/// A `reprise_session`.
pub(crate) struct RawSession {
    context: Arc<RawContext>,
    session: NonNull<c_void>,
}

impl RawSession {
    pub(crate) fn export(&self) -> Result<Vec<u8>, StackError> {
        let table = &self.context.table;
        let mut bytes = vec![0; 4096];
        loop {
            // SAFETY: so many bytes may be written.
            let returned = unsafe { (table.session_export)(self.session.as_ptr(), bytes.len(), bytes.as_mut_ptr()) };
            match returned {
                TOO_SMALL if bytes.len() < LARGEST_SESSION => bytes.resize(bytes.len() * 4, 0),
                0.. if returned as usize <= bytes.len() => {
                    bytes.truncate(returned as usize);
                    return Ok(bytes);
                }
                error => return Err(table.error("session_export", error)),
            }
        }
    }
}

impl Drop for RawSession {
    fn drop(&mut self) {
        // SAFETY: ours, and its context lives.
        unsafe { (self.context.table.session_free)(self.session.as_ptr()) };
    }
}
