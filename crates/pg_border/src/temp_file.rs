//! Temporary files of words, which PostgreSQL removes at the end of the statement, also after an error.
//!
//! PostgreSQL closes the files of a resource owner when it releases the owner: at the end of a statement, and
//! when a transaction or a subtransaction fails. Whoever has a [`TempFile`] may be dropped later, such as the
//! state of a cursor that has failed. So this module has a list of the open files, and removes those of an
//! owner from it before PostgreSQL closes them. To use such a file afterwards is an error, and to drop it
//! does nothing.

use super::error::{temporary_file, temporary_file_is_closed};
use super::memory::small_context_in;
use super::report::SqlError;
use base::{grow, push};
use pgrx::pg_guard;
use pgrx::pg_sys::{self, BufFile, FileSet, MemoryContext, ResourceOwner};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::rc::Rc;

/// O_RDONLY.
const FOR_READING: i32 = 0;

/// A file that is open.
struct OpenFile {
    /// Null if the file has been closed.
    file: Cell<*mut BufFile>,
    /// The memory context of the file, which has nothing else.
    memory: MemoryContext,
    /// What PostgreSQL closes the file with.
    owner: ResourceOwner,
    /// The set to which a file belongs that processes share; otherwise null.
    set: *mut FileSet,
}

thread_local! {
    static OPEN: RefCell<Vec<Rc<OpenFile>>> = const { RefCell::new(Vec::new()) };
    static IS_REGISTERED: Cell<bool> = const { Cell::new(false) };
}

/// Forgets files. PostgreSQL closes them, or has closed them.
fn forget(is_gone: impl Fn(&OpenFile) -> bool) {
    OPEN.with_borrow_mut(|files| {
        files.retain(|file| {
            let stays = !is_gone(file);
            if !stays {
                file.file.set(null_mut());
                // SAFETY: the context has only what belongs to the file, which nobody uses any more.
                unsafe { pg_sys::MemoryContextDelete(file.memory) };
            }
            stays
        });
    });
}

/// Called by PostgreSQL for each resource owner that it releases, which is the current one.
#[pg_guard]
unsafe extern "C-unwind" fn forget_files(
    _phase: pg_sys::ResourceReleasePhase::Type,
    _is_commit: bool,
    _is_top_level: bool,
    _argument: *mut c_void,
) {
    // SAFETY: PostgreSQL sets this variable before it releases an owner.
    let owner = unsafe { pg_sys::CurrentResourceOwner };
    forget(|file| file.owner == owner);
}

/// Forgets the files of a set that this process has left open, before the memory of the set is detached.
pub(crate) fn forget_files_of(set: *mut FileSet) {
    forget(|file| file.set == set);
}

/// A temporary file of words. It is closed when it is dropped, and then removed unless it was
/// [exported](Self::export).
pub struct TempFile(Rc<OpenFile>);

impl TempFile {
    /// A new file of this process.
    pub fn create() -> Result<Self, SqlError> {
        let file = Self::open(null_mut(), || {
            // SAFETY: a statement is being executed. The file belongs to the current resource owner.
            unsafe {
                pg_sys::PrepareTempTablespaces();
                pg_sys::BufFileCreateTemp(false)
            }
        });
        file?.ok_or_else(temporary_file)
    }

    /// A new file in a set, which other processes can read once it is [exported](Self::export).
    ///
    /// # Safety
    /// The set must be attached, and [`forget_files_of`] be called before it is detached.
    pub(crate) unsafe fn create_in(set: *mut FileSet, name: &CStr) -> Result<Self, SqlError> {
        let file = Self::open(set, || {
            // SAFETY: the set is attached, as the caller promises.
            unsafe {
                pg_sys::PrepareTempTablespaces();
                pg_sys::BufFileCreateFileSet(set, name.as_ptr())
            }
        });
        file?.ok_or_else(temporary_file)
    }

    /// Opens the file of this name in a set, if there is one.
    ///
    /// # Safety
    /// As for [`create_in`](Self::create_in).
    pub(crate) unsafe fn open_in(set: *mut FileSet, name: &CStr) -> Result<Option<Self>, SqlError> {
        let may_be_missing = true;
        // SAFETY: the set is attached, as the caller promises.
        Self::open(set, || unsafe {
            pg_sys::BufFileOpenFileSet(set, name.as_ptr(), FOR_READING, may_be_missing)
        })
    }

    /// Adds a file to the list, unless `open` returns none.
    fn open(set: *mut FileSet, open: impl FnOnce() -> *mut BufFile) -> Result<Option<Self>, SqlError> {
        if !IS_REGISTERED.replace(true) {
            // SAFETY: the function stays, because PostgreSQL never unloads a library.
            unsafe { pg_sys::RegisterResourceReleaseCallback(Some(forget_files), null_mut()) };
        }
        // An open file that is not in the list would never be closed.
        OPEN.with_borrow_mut(|files| grow(files, 1))?;
        // SAFETY: a transaction has this memory context, which lives longer than the resource owners of the
        // transaction. After an error PostgreSQL sets the current memory context itself.
        let (memory, owner, file) = unsafe {
            let memory = small_context_in(pg_sys::TopTransactionContext, c"temporary file of words");
            let before = pg_sys::CurrentMemoryContext;
            pg_sys::CurrentMemoryContext = memory;
            let file = open();
            pg_sys::CurrentMemoryContext = before;
            (memory, pg_sys::CurrentResourceOwner, file)
        };
        if file.is_null() {
            // SAFETY: nothing is in this context.
            unsafe { pg_sys::MemoryContextDelete(memory) };
            return Ok(None);
        }
        let file = Rc::new(OpenFile { file: Cell::new(file), memory, owner, set });
        OPEN.with_borrow_mut(|files| push(files, file.clone()))?;
        Ok(Some(Self(file)))
    }

    /// The file, unless PostgreSQL has closed it.
    fn file(&self) -> Result<*mut BufFile, SqlError> {
        let file = self.0.file.get();
        if file.is_null() { Err(temporary_file_is_closed()) } else { Ok(file) }
    }

    /// Writes words at the current place.
    pub fn write(&mut self, words: &[u64]) -> Result<(), SqlError> {
        let file = self.file()?;
        // SAFETY: the file is open, and PostgreSQL only reads the bytes.
        unsafe { pg_sys::BufFileWrite(file, words.as_ptr().cast_mut().cast(), size_of_val(words)) };
        Ok(())
    }

    /// Reads words at the current place. Returns how many there are, at most as many as the slice has.
    pub fn read(&mut self, words: &mut [u64]) -> Result<usize, SqlError> {
        let file = self.file()?;
        // SAFETY: the file is open, and the slice has room for these bytes.
        let bytes = unsafe { pg_sys::BufFileRead(file, words.as_mut_ptr().cast(), size_of_val(words)) };
        debug_assert!(bytes <= size_of_val(words), "a file returns as much as there is room for");
        Ok(bytes / size_of::<u64>())
    }

    /// Goes to the place of a word, from which words are read or written next.
    pub fn seek(&mut self, word: u64) -> Result<(), SqlError> {
        let segment = 0;
        let from_start = 0;
        let offset = i64::try_from(word * size_of::<u64>() as u64).map_err(|_| temporary_file())?;
        let file = self.file()?;
        // SAFETY: the file is open.
        let result = unsafe { pg_sys::BufFileSeek(file, segment, offset, from_start) };
        if result == 0 { Ok(()) } else { Err(temporary_file()) }
    }

    /// The number of words in the file.
    pub fn words(&self) -> Result<u64, SqlError> {
        let file = self.file()?;
        // SAFETY: the file is open.
        let bytes = unsafe { pg_sys::BufFileSize(file) };
        Ok(bytes as u64 / size_of::<u64>() as u64)
    }

    /// Closes a file of a set. Other processes can read it from now on.
    pub fn export(self) -> Result<(), SqlError> {
        assert!(!self.0.set.is_null(), "only the files of a set can be exported");
        let file = self.file()?;
        // SAFETY: the file is open, and belongs to a set.
        unsafe { pg_sys::BufFileExportFileSet(file) };
        Ok(())
    }
}

impl Drop for TempFile {
    /// Closes the file, unless PostgreSQL does so because of an error.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let file = self.0.file.replace(null_mut());
        if file.is_null() {
            return;
        }
        OPEN.with_borrow_mut(|files| files.retain(|other| !Rc::ptr_eq(other, &self.0)));
        // SAFETY: the file is open, and nobody else has it. The context has only what belongs to the file.
        unsafe {
            pg_sys::BufFileClose(file);
            pg_sys::MemoryContextDelete(self.0.memory);
        }
    }
}
