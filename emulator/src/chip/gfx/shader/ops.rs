// SPDX-License-Identifier: MIT
//! The ALU operations of R700.
//!
//! Names, encodings and units: Mesa 25.0.7, `r600_isa.c` (columns of R700) and
//! AMD "R700-Family Instruction Set Architecture", chapter 9. The table has
//! every operation that either lists for R700.

/// Units that can run an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    /// The four vector units and the transcendental unit.
    Any,
    /// A vector unit only.
    Vector,
    /// The transcendental unit only.
    Trans,
    /// All four vector units together.
    Four,
}

macro_rules! alu_ops {
    ($($name:ident $text:literal $op3:literal $code:literal $sources:literal $units:ident;)*) => {
        /// An ALU operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        #[repr(u8)]
        pub enum AluOp { $($name),* }

        impl AluOp {
            /// Every operation.
            pub const ALL: &'static [AluOp] = &[$(AluOp::$name),*];

            /// The operation of an `OP2` (`op3` false) or `OP3` word.
            pub const fn decode(op3: bool, code: u32) -> Option<AluOp> {
                match (op3, code) {
                    $(($op3, $code) => Some(AluOp::$name),)*
                    _ => None,
                }
            }

            /// True for the three-operand encoding, and the value of `ALU_INST`.
            pub const fn encoding(self) -> (bool, u32) {
                match self { $(AluOp::$name => ($op3, $code)),* }
            }

            /// Mesa's name.
            pub const fn name(self) -> &'static str {
                match self { $(AluOp::$name => $text),* }
            }

            /// Operands that the operation reads.
            pub const fn sources(self) -> usize {
                match self { $(AluOp::$name => $sources),* }
            }

            /// Units that can run it.
            pub const fn units(self) -> Units {
                match self { $(AluOp::$name => Units::$units),* }
            }
        }
    };
}

alu_ops! {
    Add "ADD" false 0x00 2 Any;
    Mul "MUL" false 0x01 2 Any;
    MulIeee "MUL_IEEE" false 0x02 2 Any;
    Max "MAX" false 0x03 2 Any;
    Min "MIN" false 0x04 2 Any;
    MaxDx10 "MAX_DX10" false 0x05 2 Any;
    MinDx10 "MIN_DX10" false 0x06 2 Any;
    Frexp64 "FREXP_64" false 0x07 1 Vector;
    Sete "SETE" false 0x08 2 Any;
    Setgt "SETGT" false 0x09 2 Any;
    Setge "SETGE" false 0x0a 2 Any;
    Setne "SETNE" false 0x0b 2 Any;
    SeteDx10 "SETE_DX10" false 0x0c 2 Any;
    SetgtDx10 "SETGT_DX10" false 0x0d 2 Any;
    SetgeDx10 "SETGE_DX10" false 0x0e 2 Any;
    SetneDx10 "SETNE_DX10" false 0x0f 2 Any;
    Fract "FRACT" false 0x10 1 Any;
    Trunc "TRUNC" false 0x11 1 Any;
    Ceil "CEIL" false 0x12 1 Any;
    Rndne "RNDNE" false 0x13 1 Any;
    Floor "FLOOR" false 0x14 1 Any;
    Mova "MOVA" false 0x15 1 Vector;
    MovaFloor "MOVA_FLOOR" false 0x16 1 Vector;
    Add64 "ADD_64" false 0x17 2 Vector;
    MovaInt "MOVA_INT" false 0x18 1 Vector;
    Mov "MOV" false 0x19 1 Any;
    Nop "ALU_NOP" false 0x1a 0 Any;
    Mul64 "MUL_64" false 0x1b 2 Vector;
    Flt64ToFlt32 "FLT64_TO_FLT32" false 0x1c 1 Vector;
    Flt32ToFlt64 "FLT32_TO_FLT64" false 0x1d 1 Vector;
    PredSetgtUint "PRED_SETGT_UINT" false 0x1e 2 Any;
    PredSetgeUint "PRED_SETGE_UINT" false 0x1f 2 Any;
    PredSete "PRED_SETE" false 0x20 2 Any;
    PredSetgt "PRED_SETGT" false 0x21 2 Any;
    PredSetge "PRED_SETGE" false 0x22 2 Any;
    PredSetne "PRED_SETNE" false 0x23 2 Any;
    PredSetInv "PRED_SET_INV" false 0x24 1 Any;
    PredSetPop "PRED_SET_POP" false 0x25 2 Any;
    PredSetClr "PRED_SET_CLR" false 0x26 0 Any;
    PredSetRestore "PRED_SET_RESTORE" false 0x27 1 Any;
    PredSetePush "PRED_SETE_PUSH" false 0x28 2 Any;
    PredSetgtPush "PRED_SETGT_PUSH" false 0x29 2 Any;
    PredSetgePush "PRED_SETGE_PUSH" false 0x2a 2 Any;
    PredSetnePush "PRED_SETNE_PUSH" false 0x2b 2 Any;
    Kille "KILLE" false 0x2c 2 Any;
    Killgt "KILLGT" false 0x2d 2 Any;
    Killge "KILLGE" false 0x2e 2 Any;
    Killne "KILLNE" false 0x2f 2 Any;
    AndInt "AND_INT" false 0x30 2 Any;
    OrInt "OR_INT" false 0x31 2 Any;
    XorInt "XOR_INT" false 0x32 2 Any;
    NotInt "NOT_INT" false 0x33 1 Any;
    AddInt "ADD_INT" false 0x34 2 Any;
    SubInt "SUB_INT" false 0x35 2 Any;
    MaxInt "MAX_INT" false 0x36 2 Any;
    MinInt "MIN_INT" false 0x37 2 Any;
    MaxUint "MAX_UINT" false 0x38 2 Any;
    MinUint "MIN_UINT" false 0x39 2 Any;
    SeteInt "SETE_INT" false 0x3a 2 Any;
    SetgtInt "SETGT_INT" false 0x3b 2 Any;
    SetgeInt "SETGE_INT" false 0x3c 2 Any;
    SetneInt "SETNE_INT" false 0x3d 2 Any;
    SetgtUint "SETGT_UINT" false 0x3e 2 Any;
    SetgeUint "SETGE_UINT" false 0x3f 2 Any;
    KillgtUint "KILLGT_UINT" false 0x40 2 Any;
    KillgeUint "KILLGE_UINT" false 0x41 2 Any;
    PredSeteInt "PRED_SETE_INT" false 0x42 2 Any;
    PredSetgtInt "PRED_SETGT_INT" false 0x43 2 Any;
    PredSetgeInt "PRED_SETGE_INT" false 0x44 2 Any;
    PredSetneInt "PRED_SETNE_INT" false 0x45 2 Any;
    KilleInt "KILLE_INT" false 0x46 2 Any;
    KillgtInt "KILLGT_INT" false 0x47 2 Any;
    KillgeInt "KILLGE_INT" false 0x48 2 Any;
    KillneInt "KILLNE_INT" false 0x49 2 Any;
    PredSetePushInt "PRED_SETE_PUSH_INT" false 0x4a 2 Any;
    PredSetgtPushInt "PRED_SETGT_PUSH_INT" false 0x4b 2 Any;
    PredSetgePushInt "PRED_SETGE_PUSH_INT" false 0x4c 2 Any;
    PredSetnePushInt "PRED_SETNE_PUSH_INT" false 0x4d 2 Any;
    PredSetltPushInt "PRED_SETLT_PUSH_INT" false 0x4e 2 Any;
    PredSetlePushInt "PRED_SETLE_PUSH_INT" false 0x4f 2 Any;
    Dot4 "DOT4" false 0x50 2 Four;
    Dot4Ieee "DOT4_IEEE" false 0x51 2 Four;
    Cube "CUBE" false 0x52 2 Four;
    Max4 "MAX4" false 0x53 1 Four;
    ExpIeee "EXP_IEEE" false 0x61 1 Trans;
    LogClamped "LOG_CLAMPED" false 0x62 1 Trans;
    LogIeee "LOG_IEEE" false 0x63 1 Trans;
    RecipClamped "RECIP_CLAMPED" false 0x64 1 Trans;
    RecipFf "RECIP_FF" false 0x65 1 Trans;
    RecipIeee "RECIP_IEEE" false 0x66 1 Trans;
    RecipsqrtClamped "RECIPSQRT_CLAMPED" false 0x67 1 Trans;
    RecipsqrtFf "RECIPSQRT_FF" false 0x68 1 Trans;
    RecipsqrtIeee "RECIPSQRT_IEEE" false 0x69 1 Trans;
    SqrtIeee "SQRT_IEEE" false 0x6a 1 Trans;
    FltToInt "FLT_TO_INT" false 0x6b 1 Trans;
    IntToFlt "INT_TO_FLT" false 0x6c 1 Trans;
    UintToFlt "UINT_TO_FLT" false 0x6d 1 Trans;
    Sin "SIN" false 0x6e 1 Trans;
    Cos "COS" false 0x6f 1 Trans;
    AshrInt "ASHR_INT" false 0x70 2 Any;
    LshrInt "LSHR_INT" false 0x71 2 Any;
    LshlInt "LSHL_INT" false 0x72 2 Any;
    MulloInt "MULLO_INT" false 0x73 2 Trans;
    MulhiInt "MULHI_INT" false 0x74 2 Trans;
    MulloUint "MULLO_UINT" false 0x75 2 Trans;
    MulhiUint "MULHI_UINT" false 0x76 2 Trans;
    RecipInt "RECIP_INT" false 0x77 1 Trans;
    RecipUint "RECIP_UINT" false 0x78 1 Trans;
    FltToUint "FLT_TO_UINT" false 0x79 1 Trans;
    Ldexp64 "LDEXP_64" false 0x7a 2 Vector;
    Fract64 "FRACT_64" false 0x7b 1 Vector;
    PredSetgt64 "PRED_SETGT_64" false 0x7c 2 Vector;
    PredSete64 "PRED_SETE_64" false 0x7d 2 Vector;
    PredSetge64 "PRED_SETGE_64" false 0x7e 2 Vector;
    Muladd64 "MULADD_64" true 0x08 3 Vector;
    Muladd64M2 "MULADD_64_M2" true 0x09 3 Vector;
    Muladd64M4 "MULADD_64_M4" true 0x0a 3 Vector;
    Muladd64D2 "MULADD_64_D2" true 0x0b 3 Vector;
    MulLit "MUL_LIT" true 0x0c 3 Trans;
    MulLitM2 "MUL_LIT_M2" true 0x0d 3 Trans;
    MulLitM4 "MUL_LIT_M4" true 0x0e 3 Trans;
    MulLitD2 "MUL_LIT_D2" true 0x0f 3 Trans;
    Muladd "MULADD" true 0x10 3 Any;
    MuladdM2 "MULADD_M2" true 0x11 3 Any;
    MuladdM4 "MULADD_M4" true 0x12 3 Any;
    MuladdD2 "MULADD_D2" true 0x13 3 Any;
    MuladdIeee "MULADD_IEEE" true 0x14 3 Any;
    MuladdIeeeM2 "MULADD_IEEE_M2" true 0x15 3 Any;
    MuladdIeeeM4 "MULADD_IEEE_M4" true 0x16 3 Any;
    MuladdIeeeD2 "MULADD_IEEE_D2" true 0x17 3 Any;
    Cnde "CNDE" true 0x18 3 Any;
    Cndgt "CNDGT" true 0x19 3 Any;
    Cndge "CNDGE" true 0x1a 3 Any;
    CndeInt "CNDE_INT" true 0x1c 3 Any;
    CndgtInt "CNDGT_INT" true 0x1d 3 Any;
    CndgeInt "CNDGE_INT" true 0x1e 3 Any;
    // R800's own: see `r800::ALU`. No word of R700 has codes from 0x800 on.
    BfrevInt "BFREV_INT" false 0x800 1 Vector;
    AddcUint "ADDC_UINT" false 0x801 2 Vector;
    SubbUint "SUBB_UINT" false 0x802 2 Vector;
    GroupBarrier "GROUP_BARRIER" false 0x803 0 Vector;
    SetMode "SET_MODE" false 0x804 2 Vector;
    SetCfIdx0 "SET_CF_IDX0" false 0x805 0 Vector;
    SetCfIdx1 "SET_CF_IDX1" false 0x806 0 Vector;
    BfmInt "BFM_INT" false 0x807 2 Vector;
    Flt32ToFlt16 "FLT32_TO_FLT16" false 0x808 1 Vector;
    Flt16ToFlt32 "FLT16_TO_FLT32" false 0x809 1 Vector;
    Ubyte0Flt "UBYTE0_FLT" false 0x80a 1 Vector;
    Ubyte1Flt "UBYTE1_FLT" false 0x80b 1 Vector;
    Ubyte2Flt "UBYTE2_FLT" false 0x80c 1 Vector;
    Ubyte3Flt "UBYTE3_FLT" false 0x80d 1 Vector;
    BcntInt "BCNT_INT" false 0x80e 1 Vector;
    FfbhUint "FFBH_UINT" false 0x80f 1 Vector;
    FfblInt "FFBL_INT" false 0x810 1 Vector;
    FfbhInt "FFBH_INT" false 0x811 1 Vector;
    FltToIntRpi "FLT_TO_INT_RPI" false 0x812 1 Vector;
    FltToIntFloor "FLT_TO_INT_FLOOR" false 0x813 1 Vector;
    MulhiUint24 "MULHI_UINT24" false 0x814 2 Vector;
    MulUint24 "MUL_UINT24" false 0x815 2 Vector;
    InterpXy "INTERP_XY" false 0x816 2 Vector;
    InterpZw "INTERP_ZW" false 0x817 2 Vector;
    InterpX "INTERP_X" false 0x818 2 Vector;
    InterpZ "INTERP_Z" false 0x819 2 Vector;
    InterpLoadP0 "INTERP_LOAD_P0" false 0x81a 1 Vector;
    InterpLoadP10 "INTERP_LOAD_P10" false 0x81b 1 Vector;
    InterpLoadP20 "INTERP_LOAD_P20" false 0x81c 1 Vector;
    BfeUint "BFE_UINT" true 0x81d 3 Vector;
    BfeInt "BFE_INT" true 0x81e 3 Vector;
    BfiInt "BFI_INT" true 0x81f 3 Vector;
    Fma "FMA" true 0x820 3 Vector;
    BitAlignInt "BIT_ALIGN_INT" true 0x821 3 Vector;
    ByteAlignInt "BYTE_ALIGN_INT" true 0x822 3 Vector;
    MuladdUint24 "MULADD_UINT24" true 0x823 3 Vector;
    Dot "DOT" false 0x824 2 Vector;
    DotIeee "DOT_IEEE" false 0x825 2 Vector;
    LdsIdxOp "LDS_IDX_OP" true 0x826 3 Vector;
    Mbcnt32Hi "MBCNT_32HI_INT" false 0x827 1 Vector;
    Mbcnt32Lo "MBCNT_32LO_ACCUM_PREV_INT" false 0x828 1 Vector;
    // Doubles: operands where `r800::ALU`'s users have them, see `alu::double`.
    Mul64Wide "MUL_64" false 0x829 2 Vector;
    Fma64 "FMA_64" true 0x82a 3 Vector;
    Recip64 "RECIP_64" false 0x82b 2 Vector;
    RecipClamped64 "RECIP_CLAMPED_64" false 0x82c 2 Vector;
    Recipsqrt64 "RECIPSQRT_64" false 0x82d 2 Vector;
    RecipsqrtClamped64 "RECIPSQRT_CLAMPED_64" false 0x82e 2 Vector;
    Sqrt64 "SQRT_64" false 0x82f 2 Vector;
    Sete64 "SETE_64" false 0x830 2 Vector;
    Setne64 "SETNE_64" false 0x831 2 Vector;
    Setgt64 "SETGT_64" false 0x832 2 Vector;
    Setge64 "SETGE_64" false 0x833 2 Vector;
    Min64 "MIN_64" false 0x834 2 Vector;
    Max64 "MAX_64" false 0x835 2 Vector;
    // R900's own: see `r900::alu`.
    MovaIndex0 "MOVA_INT (CF_IDX0)" false 0xa00 1 Vector;
    MovaIndex1 "MOVA_INT (CF_IDX1)" false 0xa01 1 Vector;
    // R600's own: see `r600::alu`.
    SinRadians "SIN" false 0x900 1 Trans;
    CosRadians "COS" false 0x901 1 Trans;
}

impl AluOp {
    /// True for operations that set a predicate.
    pub const fn is_pred(self) -> bool {
        let (op3, code) = self.encoding();
        !op3 && matches!(code, 0x1e..=0x2b | 0x42..=0x45 | 0x4a..=0x4f | 0x7c..=0x7e)
    }

    /// True for operations that kill lanes.
    pub const fn is_kill(self) -> bool {
        let (op3, code) = self.encoding();
        !op3 && matches!(code, 0x2c..=0x2f | 0x40 | 0x41 | 0x46..=0x49)
    }

    /// True for operations of R700.
    pub const fn is_r700(self) -> bool {
        self.encoding().1 < 0x800
    }

    /// True for operations that only R800 has.
    pub const fn is_r800(self) -> bool {
        matches!(self.encoding().1, 0x800..0x900)
    }

    /// True for operations that interpolate the inputs of a pixel shader.
    pub const fn is_interpolation(self) -> bool {
        use AluOp::*;
        matches!(
            self,
            InterpXy | InterpZw | InterpX | InterpZ | InterpLoadP0 | InterpLoadP10 | InterpLoadP20
        )
    }

    /// True for operations that load the address register.
    pub const fn is_mova(self) -> bool {
        matches!(self, AluOp::Mova | AluOp::MovaFloor | AluOp::MovaInt)
    }

    /// True for operations on doubles, which take pairs of slots.
    pub const fn is_double(self) -> bool {
        use AluOp::*;
        matches!(
            self,
            Frexp64
                | Add64
                | Mul64
                | Flt64ToFlt32
                | Flt32ToFlt64
                | Ldexp64
                | Fract64
                | PredSetgt64
                | PredSete64
                | PredSetge64
                | Muladd64
                | Muladd64M2
                | Muladd64M4
                | Muladd64D2
                | Mul64Wide
                | Fma64
                | Recip64
                | RecipClamped64
                | Recipsqrt64
                | RecipsqrtClamped64
                | Sqrt64
                | Sete64
                | Setne64
                | Setgt64
                | Setge64
                | Min64
                | Max64
        )
    }

    /// True if the operands are floats, so that denormal operands count as
    /// zero.
    pub const fn float_operands(self) -> bool {
        use AluOp::*;
        match self {
            Add | Mul | MulIeee | Max | Min | MaxDx10 | MinDx10 | Sete | Setgt | Setge | Setne
            | SeteDx10 | SetgtDx10 | SetgeDx10 | SetneDx10 | Fract | Trunc | Ceil | Rndne
            | Floor | Mova | MovaFloor | Dot4 | Dot4Ieee | Cube | Max4 | ExpIeee | LogClamped
            | LogIeee | RecipClamped | RecipFf | RecipIeee | RecipsqrtClamped | RecipsqrtFf
            | RecipsqrtIeee | SqrtIeee | FltToInt | FltToUint | Sin | Cos | SinRadians
            | CosRadians | MulLit | MulLitM2 | MulLitM4 | MulLitD2 | Muladd | MuladdM2
            | MuladdM4 | MuladdD2 | MuladdIeee | MuladdIeeeM2 | MuladdIeeeM4 | MuladdIeeeD2
            | Flt32ToFlt16 | FltToIntRpi | FltToIntFloor | Fma | Dot | DotIeee => true,
            _ => matches!(
                self,
                PredSete
                    | PredSetgt
                    | PredSetge
                    | PredSetne
                    | PredSetInv
                    | PredSetPop
                    | PredSetRestore
                    | PredSetePush
                    | PredSetgtPush
                    | PredSetgePush
                    | PredSetnePush
                    | Kille
                    | Killgt
                    | Killge
                    | Killne
            ),
        }
    }

    /// True if the operation computes a float: its result is never a denormal.
    pub const fn float_result(self) -> bool {
        use AluOp::*;
        match self {
            SeteDx10 | SetgtDx10 | SetgeDx10 | SetneDx10 | Mova | MovaFloor | MovaInt
            | FltToInt | FltToUint | FltToIntRpi | FltToIntFloor | Flt32ToFlt16 => false,
            IntToFlt | UintToFlt | Ubyte0Flt | Ubyte1Flt | Ubyte2Flt | Ubyte3Flt | Flt16ToFlt32 => {
                true
            }
            _ => self.float_operands() || self.is_kill() || (self.is_pred() && !self.is_double()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_unique_and_decode_back() {
        for &op in AluOp::ALL {
            let (op3, code) = op.encoding();
            assert_eq!(AluOp::decode(op3, code), Some(op), "{}", op.name());
        }
        assert_eq!(AluOp::decode(false, 0x60), None);
        assert_eq!(AluOp::decode(true, 0x1b), None);
    }

    #[test]
    fn groups_of_operations() {
        let count = |f: fn(AluOp) -> bool| AluOp::ALL.iter().filter(|&&op| f(op)).count();
        assert_eq!(count(AluOp::is_pred), 27);
        assert_eq!(count(AluOp::is_kill), 10);
        assert_eq!(count(AluOp::is_double), 27);
        assert_eq!(count(|op| op.units() == Units::Four), 4);
    }
}
