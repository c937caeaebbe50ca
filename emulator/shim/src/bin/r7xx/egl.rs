// SPDX-License-Identifier: MIT
//! Vendor, renderer and version of the GL that a program gets: by EGL without a surface, from the
//! libraries that the dynamic linker finds. The names and values are those of `EGL/egl.h` and
//! `GLES2/gl2.h`.

use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::ptr::{null, null_mut};

const EGL_OPENGL_ES_API: c_uint = 0x30A0;
const EGL_OPENGL_API: c_uint = 0x30A2;
const GL_VENDOR: c_uint = 0x1F00;
const GL_RENDERER: c_uint = 0x1F01;
const GL_VERSION: c_uint = 0x1F02;

type GetDisplay = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type Initialize = unsafe extern "C" fn(*mut c_void, *mut c_int, *mut c_int) -> c_uint;
type BindApi = unsafe extern "C" fn(c_uint) -> c_uint;
type CreateContext =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *const c_int) -> *mut c_void;
type MakeCurrent =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void) -> c_uint;
type GetProcAddress = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type GetString = unsafe extern "C" fn(c_uint) -> *const c_char;

/// A library that stays loaded.
struct Library(*mut c_void);

impl Library {
    fn open(name: &CStr) -> Result<Self, String> {
        // SAFETY: the name is a C string. The library's constructors run; it is the one that GL
        // programs load.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if !handle.is_null() {
            return Ok(Self(handle));
        }
        // SAFETY: dlerror() returns a C string or null; no other thread uses dl functions.
        let why = unsafe { libc::dlerror() };
        let why = match why.is_null() {
            true => "no reason given".into(),
            // SAFETY: it is a C string, valid until the next call.
            false => unsafe { CStr::from_ptr(why) }.to_string_lossy(),
        };
        Err(format!(
            "{} cannot be loaded: {why}",
            name.to_string_lossy()
        ))
    }

    /// The function `name`.
    ///
    /// # Safety
    /// `F` must be its type.
    unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, String> {
        assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
        // SAFETY: a valid handle and a C string.
        let symbol = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        if symbol.is_null() {
            return Err(format!("the EGL library has no {}", name.to_string_lossy()));
        }
        // SAFETY: the caller vouches for the type, which has the size of a pointer.
        Ok(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&symbol) })
    }
}

/// Three lines: vendor, renderer, version.
///
/// # Errors
/// The first step that fails.
pub fn info() -> Result<String, String> {
    let egl = Library::open(c"libEGL.so.1")?;
    // SAFETY: the types are those of EGL's functions.
    let (get_display, initialize, bind, create, make_current, address) = unsafe {
        (
            egl.function::<GetDisplay>(c"eglGetDisplay")?,
            egl.function::<Initialize>(c"eglInitialize")?,
            egl.function::<BindApi>(c"eglBindAPI")?,
            egl.function::<CreateContext>(c"eglCreateContext")?,
            egl.function::<MakeCurrent>(c"eglMakeCurrent")?,
            egl.function::<GetProcAddress>(c"eglGetProcAddress")?,
        )
    };
    // SAFETY: EGL's functions are called in the order that it demands, with valid arguments or
    // null where it allows that. No configuration: EGL_KHR_no_config_context.
    let get_string: GetString = unsafe {
        let display = get_display(null_mut());
        if display.is_null() || initialize(display, null_mut(), null_mut()) == 0 {
            return Err("eglInitialize() fails".into());
        }
        let mut context: *mut c_void = null_mut();
        for api in [EGL_OPENGL_API, EGL_OPENGL_ES_API] {
            if context.is_null() && bind(api) != 0 {
                context = create(display, null_mut(), null_mut(), null());
            }
        }
        if context.is_null() || make_current(display, null_mut(), null_mut(), context) == 0 {
            return Err("no GL context can be made".into());
        }
        let found = address(c"glGetString".as_ptr());
        if found.is_null() {
            return Err("there is no glGetString()".into());
        }
        std::mem::transmute::<*mut c_void, GetString>(found)
    };
    let text = |name: c_uint| {
        // SAFETY: a context is current. The result is null or a C string that stays.
        let text = unsafe { get_string(name) };
        match text.is_null() {
            true => String::new(),
            // SAFETY: as above.
            false => unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned(),
        }
    };
    Ok(format!(
        "{}\n{}\n{}\n",
        text(GL_VENDOR),
        text(GL_RENDERER),
        text(GL_VERSION)
    ))
}
