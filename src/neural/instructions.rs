//! Instruction sets: which of them the processor has, and one function for each, of the same body.

use std::sync::OnceLock;

use crate::{Error, Result};

/// The environment variable that names an instruction set.
const VARIABLE: &str = "SRPARSE_INSTRUCTIONS";

/// An instruction set for the inner loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionSet(pub(super) Kind);

/// The instruction sets; values exist only for those that the processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// AVX-512 with products of bytes.
    #[cfg(target_arch = "x86_64")]
    Vnni,
    /// AVX-512 for floats; bytes as with AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2 with products of bytes.
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// NEON with products of matrices of bytes.
    #[cfg(target_arch = "aarch64")]
    I8mm,
    /// NEON with products of bytes.
    #[cfg(target_arch = "aarch64")]
    Dotprod,
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Chosen when the library is compiled: WebAssembly cannot ask.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
    Portable,
}

#[cfg(target_arch = "aarch64")]
use std::arch::is_aarch64_feature_detected as has;
#[cfg(target_arch = "x86_64")]
use std::arch::is_x86_feature_detected as has;

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    has!("avx2") && has!("fma")
}

/// A set, its name, and whether the processor has it.
type Known = (Kind, &'static str, fn() -> bool);

/// The fastest first.
const KNOWN: &[Known] = &[
    #[cfg(target_arch = "x86_64")]
    (Kind::Vnni, "vnni", || {
        has_avx2() && has!("avx512f") && has!("avx512bw") && has!("avx512vnni")
    }),
    #[cfg(target_arch = "x86_64")]
    (Kind::Avx512, "avx512", || has_avx2() && has!("avx512f")),
    #[cfg(target_arch = "x86_64")]
    (Kind::AvxVnni, "avx-vnni", || has_avx2() && has!("avxvnni")),
    #[cfg(target_arch = "x86_64")]
    (Kind::Avx2, "avx2", has_avx2),
    #[cfg(target_arch = "aarch64")]
    (Kind::I8mm, "i8mm", || has!("neon") && has!("dotprod") && has!("i8mm")),
    #[cfg(target_arch = "aarch64")]
    (Kind::Dotprod, "dotprod", || has!("neon") && has!("dotprod")),
    #[cfg(target_arch = "aarch64")]
    (Kind::Neon, "neon", || has!("neon")),
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    (Kind::Simd128, "simd128", || true),
    (Kind::Portable, "portable", || true),
];

impl Kind {
    /// The fastest set of the processor, whatever the environment says: with it, training gives the same bytes
    /// everywhere.
    #[inline(always)]
    pub(super) fn fastest() -> Self {
        static FASTEST: OnceLock<Kind> = OnceLock::new();
        #[cfg(test)]
        if let Some(chosen) = tests::CHOSEN.get() {
            return chosen;
        }
        *FASTEST
            .get_or_init(|| InstructionSet::available().next().map_or(Self::Portable, |set| set.0))
    }
}

impl InstructionSet {
    /// The instruction sets of this processor, the fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        KNOWN.iter().filter(|(_, _, is_there)| is_there()).map(|&(kind, ..)| Self(kind))
    }

    /// The fastest one, or the one that the environment variable `SRPARSE_INSTRUCTIONS` names: on x86-64 `vnni`
    /// (AVX-512), `avx512`, `avx-vnni` or `avx2`, on arm64 `i8mm`, `dotprod` or `neon`, anywhere `portable`.
    ///
    /// # Errors
    /// When the processor has no instruction set of this name.
    pub fn wanted() -> Result<Self> {
        let Some(wanted) = std::env::var_os(VARIABLE).filter(|wanted| !wanted.is_empty()) else {
            return Ok(Self(Kind::fastest()));
        };
        Self::available().find(|set| wanted == set.name()).ok_or_else(|| {
            let known: Vec<&str> = Self::available().map(Self::name).collect();
            let (wanted, known) = (wanted.display(), known.join(", "));
            let problem =
                format!("this processor has no instruction set `{wanted}`: give one of {known}");
            Error::config(VARIABLE, problem)
        })
    }

    /// The same; the fastest one if that is an error.
    pub fn detect() -> Self {
        Self::wanted().unwrap_or(Self(Kind::fastest()))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let known = KNOWN.iter().find(|(kind, ..)| *kind == self.0);
        known.map_or("portable", |(_, name, _)| name)
    }
}

/// Compiles a body for several instruction sets, each with what stands before it, and calls the function of `$set`.
/// Parameters and arguments are lists in parentheses; sets that are not named get the portable function.
macro_rules! compiled_for {
    (
        $set:expr, $params:tt -> $out:ty, $args:tt, $body:block, portable { $($base:tt)* }
        $(, #[$cfg:meta] $name:ident [$($kind:ident)|+] $features:literal { $($before:tt)* })*
    ) => {
        $(
            #[$cfg]
            #[target_feature(enable = $features)]
            fn $name $params -> $out {
                $($before)*
                $body
            }
        )*
        fn portable $params -> $out {
            $($base)*
            $body
        }
        // SAFETY: values of an instruction set exist only if the processor has it. What all processors of a target have
        // needs no proof.
        #[allow(unsafe_code)]
        #[allow(unused_unsafe)]
        match $set {
            $(
                #[$cfg]
                $($crate::neural::instructions::Kind::$kind)|+ => unsafe { $name $args },
            )*
            _ => portable $args,
        }
    };
}
pub(super) use compiled_for;

/// Makes one function of floats for each instruction set, of the same body. `$fused` adds a product, rounded once where
/// the processor can; `$wide` is whether there are 32 registers of 16 numbers.
macro_rules! dispatched {
    ($(#[$doc:meta])* $vis:vis $name:ident($($arg:ident: $type:ty),*), |$fused:ident, $wide:ident| $body:block) => {
        $crate::neural::instructions::dispatched! {
            $(#[$doc])* $vis $name($($arg: $type),*) -> (), |$fused, $wide| $body
        }
    };
    ($(#[$doc:meta])* $vis:vis $name:ident($($arg:ident: $type:ty),*) -> $out:ty, |$fused:ident, $wide:ident| $body:block) => {
        $(#[$doc])*
        $vis fn $name($($arg: $type),*) -> $out {
            $crate::neural::instructions::compiled_for! {
                $crate::neural::instructions::Kind::fastest(),
                ($($arg: $type),*) -> $out, ($($arg),*), $body,
                portable {
                    // Every arm64 has it.
                    let $fused = |a: f32, b: f32, sum: f32| {
                        if cfg!(target_arch = "aarch64") { a.mul_add(b, sum) } else { a * b + sum }
                    };
                    const $wide: bool = false;
                },
                #[cfg(target_arch = "x86_64")]
                avx512 [Vnni | Avx512] "avx512f,avx2,fma" {
                    let $fused = |a: f32, b: f32, sum: f32| a.mul_add(b, sum);
                    const $wide: bool = true;
                },
                #[cfg(target_arch = "x86_64")]
                avx2 [AvxVnni | Avx2] "avx2,fma" {
                    let $fused = |a: f32, b: f32, sum: f32| a.mul_add(b, sum);
                    const $wide: bool = false;
                }
            }
        }
    };
}
pub(super) use dispatched;

#[cfg(test)]
#[path = "instructions_tests.rs"]
pub(super) mod tests;
