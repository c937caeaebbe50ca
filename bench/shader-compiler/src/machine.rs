// SPDX-License-Identifier: MIT
//! Machine code: its memory, its calls, and the functions that it calls.
//!
//! The only module with unsafe code. The functions that Cranelift makes are called through pointers
//! that the language cannot check. [`Code`] keeps their memory, and [`Code::call`] passes arrays
//! of fixed sizes, within which [`compile`](crate::compile) addresses by numbers that it has checked.

use cranelift_codegen::ir::{types, AbiParam, Function, Signature};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{default_libcall_names, FuncId, Linkage, Module};

use crate::math;

/// Rows of registers: 128 GPRs of four components.
pub const ROWS: usize = 512;
/// Lanes of a wave.
pub const LANES: usize = 64;
/// The registers of a wave.
pub type Rows = [[u32; LANES]; ROWS];

/// Masks that a clause gets and gives. Outcomes have four lanes in each byte.
#[repr(C)]
#[derive(Debug)]
pub struct Masks {
    /// All ones in lanes that run.
    pub exec: [u32; LANES],
    /// The same of the predicate.
    pub pred: [u32; LANES],
    /// Lanes that continue.
    pub out_exec: [u8; 16],
    /// The new predicate.
    pub out_pred: [u8; 16],
    /// Lanes that the clause has killed.
    pub out_kill: [u8; 16],
}

type Entry = unsafe extern "C" fn(*mut u32, *const u32, *mut Masks);

macro_rules! helpers {
    ($($name:ident $function:ident |$a:ident| $result:expr;)*) => {
        /// Functions of four lanes that compiled code calls, in place.
        pub const HELPERS: &[&str] = &[$(stringify!($name)),*];

        fn address(name: &str) -> *const u8 {
            match name {
                $(stringify!($name) => $function as *const u8,)*
                _ => std::ptr::null(),
            }
        }

        $(
            #[target_feature(enable = "avx2")]
            unsafe fn $name(lanes: &mut [u32; 4]) {
                for lane in lanes {
                    let $a = f32::from_bits(*lane);
                    *lane = $result.to_bits();
                }
            }

            unsafe extern "C" fn $function(lanes: *mut [u32; 4]) {
                // SAFETY: the caller passes a slot of its stack of this size; `Code::new` has seen
                // that the host has AVX2.
                unsafe { $name(&mut *lanes) }
            }
        )*
    };
}

helpers! {
    exp exp_entry |a| math::exp2(a);
    log log_entry |a| math::log2(a);
    log_clamped log_clamped_entry |a| math::clamp_infinite(math::log2(a));
    recip_clamped recip_clamped_entry |a| math::clamp_infinite(math::recip(a));
    rsqrt rsqrt_entry |a| math::rsqrt(a);
    rsqrt_clamped rsqrt_clamped_entry |a| math::clamp_infinite(math::rsqrt(a));
    sin sin_entry |a| math::sin_turns(a);
    cos cos_entry |a| math::cos_turns(a);
}

/// Compiled functions.
pub struct Code {
    module: Option<JITModule>,
    functions: Vec<FuncId>,
    entries: Vec<Entry>,
    /// Bytes of machine code.
    pub bytes: usize,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} functions", self.entries.len())
    }
}

impl Default for Code {
    fn default() -> Self {
        Self::new()
    }
}

impl Code {
    /// An empty one.
    ///
    /// # Panics
    /// On a host without AVX2, for which nothing has been measured.
    pub fn new() -> Self {
        assert!(
            is_x86_feature_detected!("avx2"),
            "the prototype is for hosts with AVX2"
        );
        let mut flags = settings::builder();
        flags.set("opt_level", "speed").expect("a known setting");
        flags
            .set("enable_verifier", "false")
            .expect("a known setting");
        let isa = cranelift_native::builder().expect("a known host");
        let isa = isa
            .finish(settings::Flags::new(flags))
            .expect("good settings");
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        for name in HELPERS {
            builder.symbol(*name, address(name));
        }
        Self {
            module: Some(JITModule::new(builder)),
            functions: Vec::new(),
            entries: Vec::new(),
            bytes: 0,
        }
    }

    fn module(&mut self) -> &mut JITModule {
        self.module.as_mut().expect("it lives as long as self")
    }

    /// The signature of a clause.
    pub fn signature(&mut self) -> Signature {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params = vec![AbiParam::new(types::I64); 3];
        signature
    }

    /// Declares a helper in `function`.
    ///
    /// # Panics
    /// If there is none of this name.
    pub fn helper(
        &mut self,
        name: &str,
        function: &mut Function,
    ) -> cranelift_codegen::ir::FuncRef {
        assert!(HELPERS.contains(&name), "no helper {name}");
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.push(AbiParam::new(types::I64));
        let module = self.module();
        let id = module
            .declare_function(name, Linkage::Import, &signature)
            .expect("one signature for all");
        module.declare_func_in_func(id, function)
    }

    /// Compiles `function`; returns its number.
    ///
    /// # Panics
    /// If the code generator refuses it.
    pub fn define(&mut self, context: &mut cranelift_codegen::Context) -> usize {
        let signature = context.func.signature.clone();
        let module = self.module();
        let id = module
            .declare_anonymous_function(&signature)
            .expect("a function");
        module.define_function(id, context).expect("valid code");
        self.bytes += context.compiled_code().map_or(0, |c| c.code_buffer().len());
        let module = self.module();
        module.clear_context(context);
        self.functions.push(id);
        self.functions.len() - 1
    }

    /// Makes the functions callable; their pages are executable and not writable from now on.
    ///
    /// # Panics
    /// If the system refuses that.
    pub fn finish(&mut self) {
        let functions = self.functions.clone();
        let module = self.module();
        module.finalize_definitions().expect("pages");
        let entries = functions.iter().map(|id| {
            let address = module.get_finalized_function(*id);
            // SAFETY: the function has been made with `signature()`, which is `Entry`'s.
            unsafe { std::mem::transmute::<*const u8, Entry>(address) }
        });
        self.entries = entries.collect();
    }

    /// Calls function `number`. `constants` has as many values as the program has constants.
    pub fn call(&self, number: usize, rows: &mut Rows, constants: &[u32], masks: &mut Masks) {
        // SAFETY: the code reads and writes within `rows`, whose numbers of rows `compile` takes
        // from seven bits of GPR and two of the component, within `masks`, and reads
        // within `constants`: `Compiled::run` makes them from the table that the code was made with.
        unsafe { self.entries[number](rows.as_mut_ptr().cast(), constants.as_ptr(), masks) }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the entries, which point into it, go with self; none runs now.
            unsafe { module.free_memory() }
        }
    }
}
