// SPDX-License-Identifier: MIT
//! PM4 type-3 opcodes and register windows. Source: `r600d.h` (`PACKET3_*`).

/// Defines opcode constants with their names.
macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u8 = $value;)*
        /// Name of a type-3 opcode, if known.
        pub fn name(opcode: u8) -> Option<&'static str> {
            match opcode {
                $($value => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

opcodes! {
    /// Skipped with its body.
    NOP = 0x10;
    /// End of an indirect buffer.
    INDIRECT_BUFFER_END = 0x17;
    /// Sets the condition for packets with the predicate bit.
    SET_PREDICATION = 0x20;
    /// Register read-modify-write.
    REG_RMW = 0x21;
    /// Skips dwords if a memory flag is zero.
    COND_EXEC = 0x22;
    /// Skips dwords on other devices.
    PRED_EXEC = 0x23;
    /// Start of a 3D command buffer.
    START_3D_CMDBUF = 0x24;
    /// Indexed draw with the index buffer's size.
    DRAW_INDEX_2 = 0x27;
    /// Context load and shadow control.
    CONTEXT_CONTROL = 0x28;
    /// Draw with inline big-endian indices.
    DRAW_INDEX_IMMD_BE = 0x29;
    /// Index size.
    INDEX_TYPE = 0x2A;
    /// Indexed draw.
    DRAW_INDEX = 0x2B;
    /// Draw with generated indices.
    DRAW_INDEX_AUTO = 0x2D;
    /// Draw with inline indices.
    DRAW_INDEX_IMMD = 0x2E;
    /// Instance count.
    NUM_INSTANCES = 0x2F;
    /// Calls an indirect buffer.
    INDIRECT_BUFFER = 0x32;
    /// Stream-out offset load and store.
    STRMOUT_BUFFER_UPDATE = 0x34;
    /// Calls an indirect buffer (multi-processor form).
    INDIRECT_BUFFER_MP = 0x38;
    /// Semaphore signal or wait.
    MEM_SEMAPHORE = 0x39;
    /// Multi-primitive index state.
    MPEG_INDEX = 0x3A;
    /// Copies one dword.
    COPY_DW = 0x3B;
    /// Polls a register or memory.
    WAIT_REG_MEM = 0x3C;
    /// Writes one or two dwords to memory.
    MEM_WRITE = 0x3D;
    /// Copies bytes.
    CP_DMA = 0x41;
    /// Lets the PFP wait for the ME (R7xx).
    PFP_SYNC_ME = 0x42;
    /// Flushes and invalidates caches.
    SURFACE_SYNC = 0x43;
    /// Initialises the ME.
    ME_INITIALIZE = 0x44;
    /// Writes a dword if a register or a dword of memory passes a comparison.
    COND_WRITE = 0x45;
    /// Event, some with a memory result.
    EVENT_WRITE = 0x46;
    /// End-of-pipe event: fence and interrupt.
    EVENT_WRITE_EOP = 0x47;
    /// Writes one register.
    ONE_REG_WRITE = 0x57;
    /// Writes configuration registers.
    SET_CONFIG_REG = 0x68;
    /// Writes context registers.
    SET_CONTEXT_REG = 0x69;
    /// Writes shader ALU constants.
    SET_ALU_CONST = 0x6A;
    /// Writes shader boolean constants.
    SET_BOOL_CONST = 0x6B;
    /// Writes shader loop constants.
    SET_LOOP_CONST = 0x6C;
    /// Writes texture and vertex resources.
    SET_RESOURCE = 0x6D;
    /// Writes samplers.
    SET_SAMPLER = 0x6E;
    /// Writes control constants.
    SET_CTL_CONST = 0x6F;
    /// Stream-out base (R7xx).
    STRMOUT_BASE_UPDATE = 0x72;
    /// Surface base changed.
    SURFACE_BASE_UPDATE = 0x73;
}

/// Register window `[start, end)` of a `SET_*` opcode, in byte offsets.
pub fn set_window(opcode: u8) -> Option<(u32, u32)> {
    match opcode {
        SET_CONFIG_REG => Some((0x0000_8000, 0x0000_AC00)),
        SET_CONTEXT_REG => Some((0x0002_8000, 0x0002_9000)),
        SET_ALU_CONST => Some((0x0003_0000, 0x0003_2000)),
        SET_BOOL_CONST => Some((0x0003_E380, 0x0004_0000)),
        SET_LOOP_CONST => Some((0x0003_E200, 0x0003_E380)),
        SET_RESOURCE => Some((0x0003_8000, 0x0003_C000)),
        SET_SAMPLER => Some((0x0003_C000, 0x0003_CFF0)),
        SET_CTL_CONST => Some((0x0003_CFF0, 0x0003_E200)),
        _ => None,
    }
}
